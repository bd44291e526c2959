// A sparse matrix in the ELL format, whose rows are as long as the longest: -1 where there is nothing.
//@ launch block = 128;
__global__ void ell(const int *col, const float *val, const float *x, float *y, int n, int width) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < n) {
        float s = 0;
        for (int k = 0; k < width; k++) {
            int c = col[k * n + r];
            if (c >= 0) s += val[k * n + r] * x[c];
        }
        y[r] = s;
    }
}
