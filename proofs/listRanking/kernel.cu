// List ranking, local phase (Kothapalli et al., HiPC 2009, case study 2; Helman and JaJa's algorithm): a thread walks from
// its splitter to the next one, three accesses an element. That 4*log2(N) elements are enough is likely, not certain.
//@ launch block = 512, grid = ceil(N / (512 * log2(N)));
//@ assume len <= 4 * log2(N);
__global__ void listRanking(const int *next, int *rank, int *splitter, int N, int len)
{
    int spacing = (int) log2f((float) N);
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * spacing;

    if (first < N) {
        int node = first;
        bool inside = true;
        for (int i = 0; inside && i < len; i++) {
            rank[node] = i;
            splitter[node] = first;
            node = next[node];
            inside = node >= 0 && node % spacing != 0;
        }
    }
}
