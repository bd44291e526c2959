// Counts bytes into 256 bins in shared memory, four bytes a word (CUDA SDK, histogram256; RaCuda's suite, POPL 2021,
// Table 2, footnote 7: the updates are not synchronised, so that bank conflicts show). Blocks of 64 threads.
__global__ void histogram256(unsigned int *d_PartialHistograms, const unsigned int *d_Data, unsigned int dataCount)
{
    __shared__ unsigned int s_Hist[256];

    for (unsigned int i = threadIdx.x; i < 256; i += blockDim.x) {
        s_Hist[i] = 0;
    }
    __syncthreads();

    for (unsigned int pos = blockIdx.x * blockDim.x + threadIdx.x; pos < dataCount; pos += blockDim.x * gridDim.x) {
        unsigned int data = d_Data[pos];
        s_Hist[data & 255]++;
        s_Hist[(data >> 8) & 255]++;
        s_Hist[(data >> 16) & 255]++;
        s_Hist[(data >> 24) & 255]++;
    }
    __syncthreads();

    for (unsigned int bin = threadIdx.x; bin < 256; bin += blockDim.x) {
        d_PartialHistograms[blockIdx.x * 256 + bin] = s_Hist[bin];
    }
}
