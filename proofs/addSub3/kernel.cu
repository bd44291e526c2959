// Like addSub2, with the thread's element of A in shared memory (POPL 2021, Fig. 1, addS3). Blocks of w threads.
// The print reads As[i], which is out of bounds in every block but the first; As[threadIdx.x] is meant. Its array has
// blockDim.x elements, which standard CUDA C can only have as dynamic shared memory.
__global__ void addSub3(int *A, int *B, int w, int h)
{
    extern __shared__ int As[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    As[threadIdx.x] = A[i];
    for (int j = 0; j < h; j += 2) {
        B[j * w + i] += As[threadIdx.x];
        B[(j + 1) * w + i] -= As[threadIdx.x];
    }
}
