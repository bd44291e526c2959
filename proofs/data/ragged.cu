// A batch of sequences of different lengths, a row of blocks for each.
//@ requires forall b in [0, batches): 0 <= len[b] && len[b] <= longest;
//@ launch block = 128;
__global__ void ragged(const int *len, const float *x, float *y, int batches, int longest) {
    int b = blockIdx.y;
    if (b >= batches) return;
    for (int t = threadIdx.x + blockIdx.x * blockDim.x; t < len[b]; t += blockDim.x * gridDim.x)
        y[b * longest + t] = 2.f * x[b * longest + t];
}
