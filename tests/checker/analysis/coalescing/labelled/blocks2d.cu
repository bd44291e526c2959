// Blocks of two dimensions: warps that span several rows of them.

__global__ void copy(float *out, const float *in, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        out[y * w + x] = in[y * w + x];
}

__global__ void swapped(float *out, const float *in, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        out[x * h + y] = in[y * w + x];
}

__global__ void byNumber(float *a)
{
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    int threads = blockDim.x * blockDim.y;
    a[blockIdx.x * threads + t] += 1.0f;
}

__global__ void outer(float *out, const float *u, const float *v)
{
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    out[t] = u[threadIdx.y] * v[threadIdx.x];
}

// Indexed by the second dimension alone.
__global__ void heights(float *out, const float *in, int w)
{
    out[threadIdx.y] = in[threadIdx.y * w];
}
