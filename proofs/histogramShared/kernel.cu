// A histogram of 256 bins for each block, in shared memory (case study 3 of Kothapalli et al., HiPC 2009): the threads of
// the grid take the observations in turn, so that loads are coalesced, and add to the bins of their block, which is copied
// to global memory at the end.
//@ launch block = 256, grid = 30;
#define BINS 256

__global__ void histogramShared(const int *data, int *partial, int N)
{
    __shared__ int bins[BINS];

    bins[threadIdx.x] = 0;
    __syncthreads();

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += blockDim.x * gridDim.x) {
        int observed = data[i];
        atomicAdd(&bins[observed & (BINS - 1)], 1);
    }
    __syncthreads();

    partial[blockIdx.x * BINS + threadIdx.x] = bins[threadIdx.x];
}
