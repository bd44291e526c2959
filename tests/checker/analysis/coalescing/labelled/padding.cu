// Rows that are padded well, badly or not at all.

__global__ void rounded(float *A, int w)
{
    int pitch = (w + 31) / 32 * 32;
    if (threadIdx.x < w)
        A[blockIdx.x * pitch + threadIdx.x] = 1.0f;
}

__global__ void oneMore(float *A, int w)
{
    int pitch = w + 1;
    if (threadIdx.x < w)
        A[blockIdx.x * pitch + threadIdx.x] = 1.0f;
}

//@ requires pitch % 32 == 0;
__global__ void pitched(float *A, int w, int pitch)
{
    if (threadIdx.x < w)
        A[blockIdx.x * pitch + threadIdx.x] = 1.0f;
}

__global__ void border(float *A, int w)
{
    int pitch = w + 2;
    if (threadIdx.x < w)
        A[(blockIdx.x + 1) * pitch + threadIdx.x + 1] = 0.0f;
}

__global__ void sharedRows(float *out, const float *in)
{
    __shared__ float plain[32 * 32];
    __shared__ float padded[32 * 33];
    int t = threadIdx.x;
    for (int k = 0; k < 32; k++) {
        plain[k * 32 + t] = in[k * 32 + t];
        padded[k * 33 + t] = in[k * 32 + t];
    }
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 32; k++)
        sum += plain[t * 32 + k] + padded[t * 33 + k];
    out[t] = sum;
}

__global__ void evenPadding(float *out, const float *in)
{
    __shared__ float rows[32 * 34];
    int t = threadIdx.x;
    for (int k = 0; k < 32; k++)
        rows[k * 34 + t] = in[k * 32 + t];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 32; k++)
        sum += rows[t * 34 + k];
    out[t] = sum;
}
