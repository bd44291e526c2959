// Elements of one, two and eight bytes.

__global__ void doubles(double *out, const double *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] + in[i + 1] + in[2 * i];
}

__global__ void halfWarps(double *out, const double *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x % 32 < 16)
        out[i] = in[i] + in[i + 8] + in[2 * i];
}

__global__ void bytes(unsigned char *out, const unsigned char *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[4 * i] + in[8 * i] + in[i + 3];
}

__global__ void shorts(short *out, const short *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[2 * i] + in[3 * i] + in[i + 1];
}

__global__ void longs(long long *out, const long long *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[n - 1 - i] = in[i / 2];
}

__global__ void sharedDoubles(double *out, const double *in)
{
    __shared__ double s[256];
    int t = threadIdx.x;
    s[t] = in[t];
    s[t + 128] = in[t + 128];
    __syncthreads();
    out[t] = s[2 * t] + s[t ^ 1] + s[t / 2];
}

__global__ void sharedBytes(int *out, const unsigned char *in)
{
    __shared__ unsigned char s[512];
    int t = threadIdx.x;
    s[t] = in[t];
    s[4 * t + 1] = in[t];
    __syncthreads();
    out[t] = s[4 * t] + s[t] + s[8 * (t % 64)];
}
