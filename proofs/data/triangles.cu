// Triangles of a graph: for each vertex, the neighbours of its neighbours that are itself.
//@ requires forall i in [0, n): row[i] <= row[i + 1];
//@ requires forall i in [0, n): row[i + 1] - row[i] <= degree;
//@ requires forall j: 0 <= col[j] && col[j] < n;
//@ launch block = 64;
__global__ void triangles(const int *row, const int *col, int *count, int n, int degree) {
    int u = blockIdx.x * blockDim.x + threadIdx.x;
    if (u >= n) return;
    int found = 0;
    for (int i = row[u]; i < row[u + 1]; i++) {
        int v = col[i];
        for (int j = row[v]; j < row[v + 1]; j++)
            if (col[j] == u) found++;
    }
    count[u] = found;
}
