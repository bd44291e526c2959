// A sparse matrix (CSR) times a vector, a block for each row.
//@ requires forall i in [0, n): rowptr[i] <= rowptr[i + 1];
//@ launch block = 128;
__global__ void spmv_block(const int *rowptr, const int *col, const float *val, const float *x, float *y, int n) {
    __shared__ float part[128];
    int row = blockIdx.x;
    float s = 0;
    if (row < n)
        for (int j = rowptr[row] + threadIdx.x; j < rowptr[row + 1]; j += blockDim.x) s += val[j] * x[col[j]];
    part[threadIdx.x] = s;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (row < n && threadIdx.x == 0) y[row] = part[0];
}
