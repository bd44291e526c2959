// Values from conditionals, and accesses by a part of the threads.

__global__ void uniformChoice(float *out, const float *in, int which)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int offset;
    if (which > 0)
        offset = 64;
    else
        offset = 0;
    out[i] = in[i + offset];
}

__global__ void tenOrTwenty(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int k = i < n ? 10 : 20;
    out[i] = in[k];
}

__global__ void nearOrFar(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int k = i < n ? 0 : 1000;
    out[i] = in[k];
}

__global__ void eitherWay(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j;
    if (i < n)
        j = i;
    else
        j = n;
    out[i] = in[j];
}

// The row above, or the same at the edge.
__global__ void north(float *out, const float *in, int w)
{
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = threadIdx.y;
    int above = y == 0 ? y : y - 1;
    out[y * (32 * w) + x] = in[above * (32 * w) + x];
}

__global__ void firstThread(float *out, const float *in)
{
    if (threadIdx.x == 0) {
        float sum = 0.0f;
        for (int k = 0; k < 16; k++)
            sum += in[blockIdx.x * 16 + k];
        out[8 * blockIdx.x] = sum;
    }
}

__global__ void leaders(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x % 32 == 0)
        out[i * 16] = in[i * 9];
}

__global__ void oneGlobalThread(float *a, int chosen)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == chosen)
        a[i * 100] = 1.0f;
}

__global__ void fewLanes(float *near, float *far)
{
    int t = threadIdx.x;
    if (t < 4) {
        near[8 * t] = 1.0f;
        far[64 * t] = 1.0f;
    }
}

__global__ void evenLanes(float *a, float *b)
{
    int t = threadIdx.x;
    if (t % 2 == 0) {
        a[t] = 1.0f;
        b[t / 2] = 1.0f;
    } else {
        a[t + 1] = 2.0f;
        b[128 + t / 2] = 1.0f;
    }
}

__global__ void left(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int k = 0;
    while (k < 8) {
        if (i + k >= n)
            break;
        out[i] += in[i + 32 * k];
        k++;
    }
}

__global__ void byData(float *out, const float *in, const int *flags)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (flags[i] % 2 == 0)
        out[i] = in[i];
    else
        out[i] = in[2 * i];
}

// Two calls, one far: each branch takes its own.
__device__ void put(float *a, int at, float value)
{
    a[at] = value;
}

__global__ void calls(float *a, float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    put(a, i, 1.0f);
    put(b, 4 * i, 2.0f);
}
