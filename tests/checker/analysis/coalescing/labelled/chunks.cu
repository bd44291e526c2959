// Work divided into a chunk a thread, or dealt round.

__global__ void chunkEach(float *a, int length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < length; k++)
        a[i * length + k] *= 2.0f;
}

__global__ void roundRobin(float *a, int length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = blockDim.x * gridDim.x;
    for (int k = 0; k < length; k++)
        a[k * threads + i] *= 2.0f;
}

__global__ void pairs(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[2 * i] + in[2 * i + 1];
}

__global__ void halves(float *out, const float *in, int half)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < half)
        out[i] = in[i] + in[i + half];
}

__global__ void fourBytes(int *out, const unsigned char *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
    for (int k = 0; k < 4; k++)
        sum += in[4 * i + k];
    out[i] = sum;
}

__global__ void warpChunks(float *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 4; k++)
        a[(i / 32) * 128 + k * 32 + (i & 31)] += 1.0f;
}

__global__ void blockChunks(float *a, int chunk)
{
    int first = blockIdx.x * chunk;
    for (int k = threadIdx.x; k < chunk; k += blockDim.x)
        a[first + k] += 1.0f;
}

__global__ void runningIndex(float *a, int n)
{
    int at = (blockIdx.x * blockDim.x + threadIdx.x) * 3;
    int end = at + 3;
    while (at < end) {
        a[at] = 0.0f;
        at++;
    }
}
