// Strided loops, scans, histograms and stencils.

__global__ void saxpy(float *y, const float *x, float a, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = a * x[i] + y[i];
}

__global__ void scanStep(float *out, const float *in, int distance, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = i >= distance ? in[i] + in[i - distance] : in[i];
}

__global__ void scanShared(float *out, const float *in)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[2 * t] = in[2 * t];
    s[2 * t + 1] = in[2 * t + 1];
    int offset = 1;
    for (int d = 128; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d)
            s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    __syncthreads();
    out[2 * t] = s[2 * t];
    out[2 * t + 1] = s[2 * t + 1];
}

__global__ void histogramGlobal(int *bins, const int *data, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&bins[data[i]], 1);
}

__global__ void histogramShared(int *bins, const int *data, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 64)
        s[t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&s[data[i] & 63], 1);
    __syncthreads();
    if (t < 64)
        atomicAdd(&bins[t], s[t]);
}

// A histogram of its own for every thread, side by side.
__global__ void histogramEach(int *bins, const int *data, int n)
{
    __shared__ int s[8 * 128];
    int t = threadIdx.x;
    for (int k = 0; k < 8; k++)
        s[k * 128 + t] = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += blockDim.x * gridDim.x)
        s[(data[i] & 7) * 128 + t]++;
    for (int k = 0; k < 8; k++)
        bins[(blockIdx.x * 8 + k) * 128 + t] = s[k * 128 + t];
}

__global__ void fivePoints(float *out, const float *in, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < w - 1 && y > 0 && y < h - 1)
        out[y * w + x] = in[y * w + x - 1] + in[y * w + x + 1] + in[(y - 1) * w + x] + in[(y + 1) * w + x];
}

__global__ void broadcasts(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[0] + in[blockIdx.x];
    for (int k = 0; k < n; k++)
        sum += in[k * 100 + 7];
    out[i] = sum;
}

__global__ void growing(float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int stride = 1; stride < n; stride *= 2)
        a[i * stride] += 1.0f;
}

__global__ void depths(float *out, const float *volume, int w, int h, int d)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < w) {
        float sum = 0.0f;
        for (int z = 0; z < d; z++)
            for (int y = 0; y < h; y++)
                sum += volume[(z * h + y) * w + x];
        out[x] = sum;
    }
}
