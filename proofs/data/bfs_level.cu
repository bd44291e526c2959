// One level of a breadth-first search: a thread for each vertex looks at its neighbours.
//@ requires forall i in [0, n): rowptr[i] <= rowptr[i + 1];
//@ requires forall i in [0, n): rowptr[i + 1] - rowptr[i] <= degree;
//@ launch block = 128;
__global__ void bfs_level(const int *rowptr, const int *col, int *level, int *changed, int n, int now, int degree) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && level[v] == now)
        for (int j = rowptr[v]; j < rowptr[v + 1]; j++) {
            int u = col[j];
            if (level[u] < 0) {
                level[u] = now + 1;
                *changed = 1;
            }
        }
}
