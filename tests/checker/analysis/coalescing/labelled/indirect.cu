// Irregular access: indices that come from memory.

__global__ void gather(float *out, const float *in, const int *index, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[index[i]];
}

__global__ void scatter(float *out, const float *in, const int *index, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[index[i]] = in[i];
}

// One row of a sparse matrix a thread.
__global__ void sparseRows(float *y, const float *values, const int *columns, const int *starts, const float *x, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n) {
        float sum = 0.0f;
        int end = starts[row + 1];
        for (int k = starts[row]; k < end; k++)
            sum += values[k] * x[columns[k]];
        y[row] = sum;
    }
}

// One row of a sparse matrix a warp.
__global__ void sparseWarps(float *partial, const float *values, const int *columns, const int *starts, const float *x,
                            int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row = i / 32;
    int lane = i % 32;
    float sum = 0.0f;
    if (row < n) {
        int end = starts[row + 1];
        for (int k = starts[row] + lane; k < end; k += 32)
            sum += values[k] * x[columns[k]];
    }
    partial[i] = sum;
}

__global__ void frontier(int *next, const int *current, const int *first, const int *edges, int n)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < n && current[node] != 0) {
        int last = first[node + 1];
        for (int e = first[node]; e < last; e++)
            next[edges[e]] = 1;
    }
}

// The indices in memory are consecutive: nothing in the source says so.
__global__ void neighbours(float *out, const float *in, const int *nearby, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[nearby[i]];
}

__global__ void searchSorted(int *found, const float *sorted, const float *keys, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m)
        return;
    float key = keys[i];
    int low = 0;
    int high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (sorted[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    found[i] = low;
}
