// Escape times of z*z + c, four steps a turn, each with a way out, in a loop that nothing but these ends.
//@ requires limit > 0;
//@ launch block = 32, 8;
__device__ int escape(float cx, float cy, int limit) {
    float x = 0, y = 0, xx = 0, yy = 0;
    int left = limit;
    do {
        y = 2 * x * y + cy; x = xx - yy + cx; yy = y * y; xx = x * x;
        if (--left <= 0 || xx + yy > 4) return left;
        y = 2 * x * y + cy; x = xx - yy + cx; yy = y * y; xx = x * x;
        if (--left <= 0 || xx + yy > 4) return left;
        y = 2 * x * y + cy; x = xx - yy + cx; yy = y * y; xx = x * x;
        if (--left <= 0 || xx + yy > 4) return left;
        y = 2 * x * y + cy; x = xx - yy + cx; yy = y * y; xx = x * x;
        if (--left <= 0 || xx + yy > 4) return left;
    } while (true);
}

__global__ void escape_time(uchar4 *image, int width, int height, float scale, int limit) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int left = escape(scale * x - 2, scale * y - 1, limit);
    uchar4 colour;
    colour.x = left; colour.y = 3 * left; colour.z = 5 * left; colour.w = 255;
    image[y * width + x] = colour;
}
