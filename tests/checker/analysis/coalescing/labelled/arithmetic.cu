// Indices that are no linear functions of the thread's index.

__global__ void roundedDown(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i / 8 * 8] + in[i / 16 * 16 + i % 16] + in[i & ~3];
}

__global__ void multiplied(float *out, const float *in)
{
    int i = __mul24(blockIdx.x, blockDim.x) + threadIdx.x;
    out[i] = in[__umul24(i, 1)] + in[__mul24(i, 4)];
}

__global__ void shifts(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i >> 1] + in[i << 1] + in[(i >> 5) << 5];
}

__global__ void butterflies(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i ^ 1] + in[i ^ 64] + in[i ^ 16];
}

__global__ void evenAndOdd(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i - i % 2] + in[i + i % 2] + in[i % 2];
}

__global__ void clamped(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[min(i, n - 1)] + in[max(i - 1, 0)];
}

__global__ void bitsReversed(float *out, const float *in)
{
    int i = threadIdx.x;
    int v = i;
    int r = 0;
    for (int k = 0; k < 7; k++) {
        r = (r << 1) | (v & 1);
        v >>= 1;
    }
    out[i] = in[r];
}

__global__ void triangles(float *out, const float *in)
{
    int i = threadIdx.x;
    out[i] = in[i * (i + 1) / 2] + in[i * i];
}

__global__ void distances(float *out, const float *in, int centre)
{
    int i = threadIdx.x;
    out[i] = in[abs(i - 64)] + in[abs(i - centre)];
}

__global__ void modular(float *out, const float *table, int period)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = table[i % 32] + table[i % 10] + table[i % period];
}

__global__ void cancelled(float *out, const float *in)
{
    int i = threadIdx.x;
    int j = 127 - i;
    out[i + blockIdx.x * 128] = in[i + j] + in[3 * i - 2 * i] + in[2 * i + j - 127];
}
