// A sparse matrix (CSR) times a vector, a warp for each row.
//@ requires forall i in [0, n): rowptr[i] <= rowptr[i + 1];
//@ launch block = 128;
__global__ void spmv_vector(const int *rowptr, const int *col, const float *val, const float *x, float *y, int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x & 31;
    if (row < n) {
        float s = 0;
        for (int j = rowptr[row] + lane; j < rowptr[row + 1]; j += 32) s += val[j] * x[col[j]];
        for (int gap = 16; gap > 0; gap /= 2) s += __shfl_down_sync(0xffffffffu, s, gap);
        if (lane == 0) y[row] = s;
    }
}
