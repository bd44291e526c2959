// Arrays of structures, and what stands in for them.

struct Particle {
    float x, y, z;
    int cell;
};

struct Complex {
    float re, im;
};

struct Pixel {
    unsigned char r, g, b, a;
};

struct Sample {
    char tag;
    double value;
};

__global__ void moveParticles(Particle *particles, const float *speed, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        particles[i].x += speed[i];
        particles[i].cell = (int)particles[i].x;
    }
}

__global__ void moveApart(float *x, int *cell, const float *speed, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] += speed[i];
        cell[i] = (int)x[i];
    }
}

__global__ void magnitudes(float *out, const Complex *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = sqrtf(c[i].re * c[i].re + c[i].im * c[i].im);
}

// Four bytes a structure: the warp stays in its line.
__global__ void greys(unsigned char *out, const Pixel *pixels, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = (pixels[i].r + pixels[i].g + pixels[i].b) / 3;
}

__global__ void weigh(double *out, const Sample *samples, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && samples[i].tag != 0)
        out[i] = samples[i].value;
}

__global__ void vectors(float *out, const float4 *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = v[i].x * v[i].w;
}

// Tiles of 32 x's, then 32 y's, then 32 z's.
__global__ void tiledFields(float *out, const float *tiles, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int at = i / 32 * 96 + i % 32;
        out[i] = tiles[at] + tiles[at + 32] + tiles[at + 64];
    }
}

__global__ void sharedParticles(float *out, const float *in)
{
    __shared__ Complex waves[128];
    int t = threadIdx.x;
    waves[t].re = in[blockIdx.x * blockDim.x + t];
    waves[t].im = 0.0f;
    __syncthreads();
    out[blockIdx.x * blockDim.x + t] = waves[127 - t].re + waves[0].im;
}
