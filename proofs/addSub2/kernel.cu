// Like addSub1, one column a thread, so that accesses to B are coalesced (POPL 2021, Fig. 1, addS2). Blocks of w threads.
__global__ void addSub2(int *A, int *B, int w, int h)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = 0; j < h; j += 2) {
        B[j * w + i] += A[i];
        B[(j + 1) * w + i] -= A[i];
    }
}
