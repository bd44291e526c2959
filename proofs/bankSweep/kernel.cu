// How bank conflicts show (experiment 2 of Kothapalli et al., HiPC 2009): every thread writes what it read to shared memory
// `repeats` times, at a distance of BANK words from the thread before it. What no turn changes is computed once, as by a
// compiler. BANK = 1 has no conflicts, BANK = 16 has a half-warp at one bank.
//@ launch block = 512, grid = 30;
#ifndef BANK
#define BANK 1
#endif

__global__ void bankSweep(float *a, int repeats)
{
    __shared__ float S[512];
    int own = blockIdx.x * blockDim.x + threadIdx.x;
    float value = a[own];
    int place = threadIdx.x * BANK % 512;

    for (int i = 0; i < repeats; i++) {
        S[place] = value;
    }

    a[own] = S[place];
}
