// Pairs of particles that are near each other: each looks through the cells around its own, whose particles are stored
// one after the other.
//@ requires forall c in [0, cells): first[c] <= first[c + 1];
//@ requires forall c in [0, cells): first[c + 1] - first[c] <= crowd;
//@ requires forall k: 0 <= around[k] && around[k] < cells;
//@ launch block = 128;
__global__ void cell_pairs(const int *first, const int *around, const int *cell, const float *px, const float *py,
                           int *near, int particles, int cells, int crowd, float reach) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= particles) return;
    float x = px[p], y = py[p];
    int home = cell[p], found = 0;
    for (int k = 0; k < 9; k++) {
        int c = around[9 * home + k];
        for (int j = first[c]; j < first[c + 1]; j++) {
            float dx = px[j] - x, dy = py[j] - y;
            if (dx * dx + dy * dy < reach) found++;
        }
    }
    near[p] = found;
}
