// Adds the row A to the even rows of the h x w matrix B and subtracts it from the odd ones: one row a thread, and
// neighbouring threads do different things (POPL 2021, Fig. 1, addS0). Blocks of h threads.
__global__ void addSub0(int *A, int *B, int w, int h)
{
    for (int i = 0; i < w; i++) {
        int j = blockIdx.x * blockDim.x + threadIdx.x;
        if (j % 2 == 0) {
            B[j * w + i] += A[i];
        } else {
            B[j * w + i] -= A[i];
        }
    }
}
