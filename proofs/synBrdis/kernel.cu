// A divergent branch with three loops on either side (branch distribution, after Han and Abdelrahman; RaCuda's suite,
// POPL 2021, Table 2: SYN-BRDIS). One block of one warp.
__global__ void synBrdis(int N, int M)
{
    __shared__ int A[32];
    __shared__ int B[32];
    int tid = threadIdx.x;
    int x = 0;

    for (int i = 0; i < N; i++) {
        if ((tid + i) % 2 == 0) {
            for (int j = 0; j < M; j++) {
                A[tid] = A[tid] + j;
            }
            for (int j = 0; j < M; j++) {
                x += B[tid] + j;
            }
            for (int j = 0; j < M; j++) {
                B[tid] = x + j;
            }
        } else {
            for (int j = 0; j < M; j++) {
                A[tid] = A[tid] - j;
            }
            for (int j = 0; j < M; j++) {
                x += B[tid] + j;
            }
            for (int j = 0; j < M; j++) {
                B[tid] = x - j;
            }
        }
    }
}
