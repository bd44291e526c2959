// Tiles in shared memory.

__global__ void transposeDirect(float *out, const float *in, int w, int h)
{
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (x < w && y + k < h)
            out[x * h + y + k] = in[(y + k) * w + x];
}

__global__ void transposeTiled(float *out, const float *in, int w, int h)
{
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (x < w && y + k < h)
            tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * w + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (x < h && y + k < w)
            out[(y + k) * h + x] = tile[threadIdx.x][threadIdx.y + k];
}

__global__ void transposePadded(float *out, const float *in, int tiles)
{
    __shared__ float tile[32][33];
    int n = 32 * tiles;
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        out[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}

__global__ void product16(float *C, const float *A, const float *B, int n)
{
    __shared__ float As[16][16];
    __shared__ float Bs[16][16];
    int row = blockIdx.y * 16 + threadIdx.y;
    int column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < n; k += 16) {
        As[threadIdx.y][threadIdx.x] = A[row * n + k + threadIdx.x];
        Bs[threadIdx.y][threadIdx.x] = B[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int j = 0; j < 16; j++)
            sum += As[threadIdx.y][j] * Bs[j][threadIdx.x];
        __syncthreads();
    }
    C[row * n + column] = sum;
}

__global__ void product32(float *C, const float *A, const float *B, int tiles)
{
    __shared__ float As[32][32];
    __shared__ float Bs[32][32];
    int n = 32 * tiles;
    int row = blockIdx.y * 32 + threadIdx.y;
    int column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < tiles; k++) {
        As[threadIdx.y][threadIdx.x] = A[row * n + 32 * k + threadIdx.x];
        Bs[threadIdx.x][threadIdx.y] = B[(32 * k + threadIdx.y) * n + column];
        __syncthreads();
        for (int j = 0; j < 32; j++)
            sum += As[threadIdx.y][j] * Bs[threadIdx.x][j];
        __syncthreads();
    }
    C[row * n + column] = sum;
}

__global__ void convolve(float *out, const float *in, const float *weights, int n)
{
    __shared__ float s[130];
    int t = threadIdx.x;
    int i = blockIdx.x * 128 + t;
    s[t + 1] = i < n ? in[i] : 0.0f;
    if (t == 0) {
        s[0] = i > 0 ? in[i - 1] : 0.0f;
        s[129] = i + 128 < n ? in[i + 128] : 0.0f;
    }
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 3; k++)
        sum += s[t + k] * weights[k];
    if (i < n)
        out[i] = sum;
}
