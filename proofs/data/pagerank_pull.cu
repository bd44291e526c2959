// A step of PageRank: each vertex gathers what its predecessors give, a warp for each vertex.
//@ requires forall i in [0, n): first[i] <= first[i + 1];
//@ launch block = 256;
__global__ void pagerank_pull(const int *first, const int *from, const float *rank, const int *out, float *next, int n,
                              float damping) {
    int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (v >= n) return;
    float sum = 0;
    for (int j = first[v] + lane; j < first[v + 1]; j += 32) {
        int u = from[j];
        sum += rank[u] / out[u];
    }
    for (int gap = 16; gap > 0; gap /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, gap);
    if (lane == 0) next[v] = (1 - damping) / n + damping * sum;
}
