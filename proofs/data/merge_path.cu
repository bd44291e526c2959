// Two sorted arrays are merged: each thread finds by bisection where its part begins, and writes `part` elements of the
// whole.
//@ requires na >= 0 && nb >= 0 && part >= 0;
//@ launch block = 128;
__global__ void merge_path(const int *a, const int *b, int *c, int na, int nb, int part) {
    int d = (blockIdx.x * blockDim.x + threadIdx.x) * part;
    if (d >= na + nb) return;
    int low = max(0, d - nb), high = min(d, na);
    while (low < high) {
        int middle = (low + high) / 2;
        if (a[middle] <= b[d - 1 - middle]) low = middle + 1;
        else high = middle;
    }
    int i = low, j = d - low;
    for (int k = 0; k < part; k++) {
        if (i >= na && j >= nb) break;
        if (j >= nb || (i < na && a[i] <= b[j])) c[d + k] = a[i++];
        else c[d + k] = b[j++];
    }
}
