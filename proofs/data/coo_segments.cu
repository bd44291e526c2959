// A sparse matrix in coordinates (COO) times a vector: a thread for each entry, sums of a row's entries within a warp.
//@ launch block = 128;
__global__ void coo_segments(const int *row, const int *col, const float *val, const float *x, float *y, int entries) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    int r = i < entries ? row[i] : -1;
    float s = i < entries ? val[i] * x[col[i]] : 0.f;
    for (int gap = 1; gap < 32; gap *= 2) {
        float before = __shfl_up_sync(0xffffffffu, s, gap);
        int other = __shfl_up_sync(0xffffffffu, r, gap);
        if (lane >= gap && other == r) s += before;
    }
    int next = __shfl_down_sync(0xffffffffu, r, 1);
    if (i < entries && (lane == 31 || next != r)) atomicAdd(&y[r], s);
}
