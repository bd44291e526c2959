// fan2 repaired, a column a thread: neighbouring threads touch neighbouring elements of A, and one of M together
// (GPUDrano, CAV 2017, Fig. 2b). A and M are N x N, B has N elements; step t needs N - t threads.
__global__ void fan2Fixed(float *A, float *B, const float *M, int N, int t)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid + t >= N) return;
    int y = tid + t;

    for (int x = t + 1; x < N; x++) {
        int xt = N * x + t;
        int xy = N * x + y;
        int ty = N * t + y;
        A[xy] -= M[xt] * A[ty];
        if (y == t) {
            B[x] -= M[xt] * B[t];
        }
    }
}
