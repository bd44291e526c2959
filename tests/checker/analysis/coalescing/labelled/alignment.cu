// Offsets that are no whole lines.

__global__ void shifted(float *out, const float *in, int offset)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i + offset];
}

__global__ void threePoints(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i < n - 1)
        out[i] = in[i - 1] + in[i] + in[i + 1];
}

__global__ void headers(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i + 32] + in[i + 2];
}

__global__ void oddRows(float *A)
{
    A[blockIdx.x * 33 + threadIdx.x] = 0.0f;
}

__global__ void reversed(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[n - 1 - i] = in[i];
}

__global__ void reversedInBlock(float *out, const float *in)
{
    int base = blockIdx.x * blockDim.x;
    out[base + threadIdx.x] = in[base + blockDim.x - 1 - threadIdx.x];
}

// Blocks that are no whole number of warps begin inside of lines.
__global__ void anyBlock(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}

__global__ void pipelined(float *out, const float *in, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < rounds; r++)
        out[i] += in[i + r];
}

__global__ void wrapped(float *out, const float *in, int shift, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[(i + shift) % n];
}
