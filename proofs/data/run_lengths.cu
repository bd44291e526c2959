// Decoding of run lengths: a block writes the copies of each value.
//@ requires forall i in [0, n): start[i] <= start[i + 1];
//@ launch block = 128;
__global__ void run_lengths(const int *start, const int *value, int *out, int n) {
    int i = blockIdx.x;
    if (i < n)
        for (int k = start[i] + threadIdx.x; k < start[i + 1]; k += blockDim.x) out[k] = value[i];
}
