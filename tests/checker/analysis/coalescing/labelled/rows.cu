// Rows and columns of matrices.

__global__ void rowSums(float *sums, const float *A, int w, int h)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < h) {
        float sum = 0.0f;
        for (int j = 0; j < w; j++)
            sum += A[row * w + j];
        sums[row] = sum;
    }
}

__global__ void columnSums(float *sums, const float *A, int w, int h)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < w) {
        float sum = 0.0f;
        for (int j = 0; j < h; j++)
            sum += A[j * w + column];
        sums[column] = sum;
    }
}

// The same with rows of whole lines.
__global__ void columnSumsOfLines(float *sums, const float *A, int lines, int h)
{
    int w = 32 * lines;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < w) {
        float sum = 0.0f;
        for (int j = 0; j < h; j++)
            sum += A[j * w + column];
        sums[column] = sum;
    }
}

__global__ void shortRows(float *sums, const float *A, int h)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < h) {
        float sum = 0.0f;
        for (int j = 0; j < 8; j++)
            sum += A[row * 8 + j];
        sums[row] = sum;
    }
}

__global__ void matrixVector(float *y, const float *A, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float sum = 0.0f;
        for (int j = 0; j < n; j++)
            sum += A[i * n + j] * x[j];
        y[i] = sum;
    }
}

// The matrix is stored by columns.
__global__ void columnMajor(float *y, const float *A, const float *x, int m, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) {
        float sum = 0.0f;
        for (int j = 0; j < n; j++)
            sum += A[j * m + i] * x[j];
        y[i] = sum;
    }
}

__global__ void diagonal(float *d, const float *A, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        d[i] = A[i * n + i];
}

// A block a row, its threads go along it.
__global__ void scaleRows(float *A, const float *factors, int w)
{
    for (int j = threadIdx.x; j < w; j += blockDim.x)
        A[blockIdx.x * w + j] *= factors[blockIdx.x];
}
