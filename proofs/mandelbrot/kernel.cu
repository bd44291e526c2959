// Colours each pixel by how soon z -> z * z + c, from 0 on, leaves the disk of radius 2 (CUDA SDK, Mandelbrot; RaCuda's
// suite, POPL 2021, Table 2). The image is divided into tiles of a block's size, numBlocks of them, `across` in a row of
// tiles; the blocks of the grid take them in turns. `crunch` is the most iterations of a pixel.
__device__ int escapeTime(float cx, float cy, int crunch)
{
    float x = 0.0f;
    float y = 0.0f;
    float xx = 0.0f;
    float yy = 0.0f;
    int i = 0;

    while (i < crunch && xx + yy < 4.0f) {
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;
        i++;
    }
    return i;
}

__global__ void mandelbrot(unsigned int *image, int width, int height, int crunch, float left, float top, float scale,
                           int across, int numBlocks)
{
    for (int tile = blockIdx.x; tile < numBlocks; tile += gridDim.x) {
        int px = blockDim.x * (tile % across) + threadIdx.x;
        int py = blockDim.y * (tile / across) + threadIdx.y;

        if (px < width && py < height) {
            int time = escapeTime(left + px * scale, top + py * scale, crunch);
            int shade = time < crunch ? time * 255 / crunch : 0;
            image[width * py + px] = shade << 16 | shade * 5 % 256 << 8 | shade * 13 % 256;
        }
    }
}
