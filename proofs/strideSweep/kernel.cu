// How coalescing shows (experiment 1 of Kothapalli et al., HiPC 2009): STRIDE threads that follow one another walk through
// STRIDE * count elements together, STRIDE elements a turn. With -D STRIDE=1 every thread has a stretch of its own. Each
// thread makes `count` turns, whatever STRIDE is.
//@ launch block = 512, grid = 30;
//@ requires count % 32 == 0;
#ifndef STRIDE
#define STRIDE 32
#endif

__global__ void strideSweep(float *a, int count)
{
    int block = count * blockIdx.x * blockDim.x;
    int start = block + threadIdx.x / STRIDE * count * STRIDE + threadIdx.x % STRIDE;

    for (int k = 0; k < count; k++) {
        a[start + k * STRIDE] = a[start + k * STRIDE] + a[start + k * STRIDE];
    }
}
