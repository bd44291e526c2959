// C += A * B without shared memory, and with a branch on the data in the inner loop (RaCuda's suite, POPL 2021,
// Table 2). Blocks of 32 x 32 threads.
#define BLOCK_SIZE 32

__global__ void matMulBad(float *C, const float *A, const float *B, int wA, int wB)
{
    int bx = blockIdx.x;
    int by = blockIdx.y;
    int tx = threadIdx.x;
    int ty = threadIdx.y;

    int aBegin = wA * BLOCK_SIZE * by;
    int aEnd = aBegin + wA - 1;
    int aStep = BLOCK_SIZE;
    int bBegin = BLOCK_SIZE * bx;
    int bStep = BLOCK_SIZE * wB;
    float Csub = 0;
    int c = wB * BLOCK_SIZE * by + BLOCK_SIZE * bx;

    for (int a = aBegin, b = bBegin; a <= aEnd; a += aStep, b += bStep) {
        for (int k = 0; k < BLOCK_SIZE; ++k) {
            float ae = A[a + wA * ty + k];
            float be = B[b + wB * k + tx];
            if ((be - 1.0) < 0.001) {
                Csub = ae;
            } else {
                Csub = ae * be;
            }
            C[c + wB * ty + tx] += Csub;
        }
    }
}
