// C = A * B for N x N matrices by 16 x 16 tiles in shared memory (CUDA programming guide, chapter 6; case study 1 of
// Kothapalli et al., HiPC 2009). A block makes one tile of C, a thread one element.
//@ launch block = 16, 16, grid = N / 16, N / 16;
//@ requires N % 16 == 0 && N > 0;
#define TILE 16

__global__ void matMul16(float *C, const float *A, const float *B, int N)
{
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = N * TILE * blockIdx.y;
    int column = TILE * blockIdx.x;
    float sum = 0;

    for (int a = row, b = column; a < row + N; a += TILE, b += TILE * N) {
        As[ty][tx] = A[a + N * ty + tx];
        Bs[ty][tx] = B[b + N * ty + tx];
        __syncthreads();

        for (int k = 0; k < TILE; ++k) {
            sum += As[ty][k] * Bs[k][tx];
        }
        __syncthreads();
    }

    C[row + column + N * ty + tx] = sum;
}
