// Sums of blocks.

__global__ void inPlace(float *d)
{
    int base = blockIdx.x * blockDim.x;
    int t = threadIdx.x;
    for (int s = 1; s < blockDim.x; s *= 2) {
        if (t % (2 * s) == 0)
            d[base + t] += d[base + t + s];
        __syncthreads();
    }
}

__global__ void inPlaceStrided(float *d)
{
    int base = blockIdx.x * blockDim.x;
    for (int s = 1; s < blockDim.x; s *= 2) {
        int index = 2 * s * threadIdx.x;
        if (index < blockDim.x)
            d[base + index] += d[base + index + s];
        __syncthreads();
    }
}

__global__ void sharedStrided(float *out, const float *in)
{
    __shared__ float s_data[128];
    int t = threadIdx.x;
    s_data[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int s = 1; s < blockDim.x; s *= 2) {
        int index = 2 * s * t;
        if (index < blockDim.x)
            s_data[index] += s_data[index + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s_data[0];
}

__global__ void sharedHalves(float *out, const float *in, int n)
{
    __shared__ float s_data[128];
    int t = threadIdx.x;
    int i = blockIdx.x * (2 * blockDim.x) + t;
    s_data[t] = (i < n ? in[i] : 0.0f) + (i + blockDim.x < n ? in[i + blockDim.x] : 0.0f);
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s)
            s_data[t] += s_data[t + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s_data[0];
}

// A thread sums the parts of a tree, one node a thread.
__global__ void treeSums(int *tree, int nodes)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < nodes)
        tree[i] = tree[2 * i + 1] + tree[2 * i + 2];
}

// Each warp leaves its sum; the first warp gathers them.
__global__ void warpLeaders(float *out, const float *in)
{
    __shared__ float sums[4];
    int t = threadIdx.x;
    if (t % 32 == 0)
        sums[t / 32] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    if (t < 4)
        out[blockIdx.x * 4 + t] = sums[t];
}
