// The local phase of list ranking (Kothapalli et al., HiPC 2009, case study 2; the algorithm is Helman and JaJa's): every
// log2(N)-th element of the successor array is a splitter. A thread walks from its splitter to the next one, gives each
// element on the way its rank and its splitter, and so touches global memory three times an element, wherever the list
// leads. No sublist has more than `len` elements: 4 * log2(N) in all likelihood. Blocks of 512 threads, N / log2(N) threads.
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
