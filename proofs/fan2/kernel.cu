// A step of Gaussian elimination, a row a thread: neighbouring threads touch A and M a whole row apart (Fan2 of Rodinia's
// gaussian, as GPUDrano has it: CAV 2017, Fig. 2a). A and M are N x N, B has N elements; step t needs N - t - 1 threads.
__global__ void fan2(float *A, float *B, const float *M, int N, int t)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid + t + 1 >= N) return;
    int x = tid + t + 1;

    for (int y = t; y < N; y++) {
        int xt = N * x + t;
        int xy = N * x + y;
        int ty = N * t + y;
        A[xy] -= M[xt] * A[ty];
        if (y == t) {
            B[x] -= M[xt] * B[t];
        }
    }
}
