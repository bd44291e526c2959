// The sectors of reduce3, with the derivation written into the source: `warpbound check proofs/reduce3/sectors.cu`.
// A warp loads 32 consecutive words twice, from multiples of 32 (a block starts at 512*blockIdx.x, the second half at 256
// more): 4 sectors each. Thread 0 writes the block's sum: 1 more. The loop stays in shared memory.

//@ metric sectors;
//@ launch block = 256;
__global__ void reduce3(const int *g_idata, int *g_odata, unsigned int n)
{
    extern __shared__ int sdata[];
    //@ potential 9;
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
    //@ assert i == 512*blockIdx.x + threadIdx.x;
    //@ potential 9;
    int mySum = (i < n) ? g_idata[i] : 0;
    //@ assert i == 512*blockIdx.x + threadIdx.x;
    //@ potential 5;
    if (i + blockDim.x < n) {
        mySum += g_idata[i + blockDim.x];
        //@ potential 1;
    }
    sdata[tid] = mySum;
    __syncthreads();

    // Shared memory is free here, so the invariant has only to keep what the last write needs.
    //@ loop invariant tid == threadIdx.x;
    //@ loop potential 1;
    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) {
            sdata[tid] += sdata[tid + s];
        }
        __syncthreads();
    }

    // One thread of the block, so one sector.
    //@ assert tid == threadIdx.x;
    //@ potential 1;
    if (tid == 0) {
        g_odata[blockIdx.x] = sdata[0];
        //@ potential 0;
    }
}
