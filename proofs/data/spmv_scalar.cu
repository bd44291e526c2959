// A sparse matrix (CSR) times a vector, a thread for each row.
//@ requires forall i in [0, n): rowptr[i] <= rowptr[i + 1];
//@ requires forall i in [0, n): rowptr[i + 1] - rowptr[i] <= width;
//@ launch block = 128;
__global__ void spmv_scalar(const int *rowptr, const int *col, const float *val, const float *x, float *y, int n,
                            int width) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < n) {
        float s = 0;
        for (int j = rowptr[r]; j < rowptr[r + 1]; j++) s += val[j] * x[col[j]];
        y[r] = s;
    }
}
