// Sums n integers, one partial sum a block: like reduce2, with the loop counting upward as RaCuda's suite has it (the last addition is left out)
// (CUDA SDK, reduction; RaCuda's suite, POPL 2021, Table 2).
__global__ void reduce2a(const int *g_idata, int *g_odata, unsigned int n)
{
    extern __shared__ int sdata[];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    sdata[tid] = (i < n) ? g_idata[i] : 0;
    __syncthreads();

    for (unsigned int s = 2; s < blockDim.x; s *= 2) {
        unsigned int si = blockDim.x / s;
        if (tid < si) {
            sdata[tid] += sdata[tid + si];
        }
        __syncthreads();
    }

    if (tid == 0) {
        g_odata[blockIdx.x] = sdata[0];
    }
}
