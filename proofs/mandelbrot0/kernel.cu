// The Mandelbrot set as the vendor's sample draws it (CUDA SDK, Mandelbrot0; RaCuda's suite, POPL 2021, Table 2): the step
// z -> z * z + c is written out twenty times in a loop that ends in its body alone, and a pixel returns from wherever it
// leaves the disk of radius 2. The image is divided into tiles of a block's size, numBlocks of them, `across` in a row of
// tiles; the blocks of the grid take them in turns. A pixel turns until `crunch` steps or more are done. The first frame
// is stored, each further one is mixed with the mean of those before.
__device__ int turnsLeft(float cx, float cy, int crunch)
{
    float x = cx;
    float y = cy;
    float xx = x * x;
    float yy = y * y;
    int left = crunch;

    do {
        if (xx + yy > 4.0f)
            return left - 1;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;

        if (xx + yy > 4.0f)
            return left - 2;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;

        if (xx + yy > 4.0f)
            return left - 3;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;

        if (xx + yy > 4.0f)
            return left - 4;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;

        if (xx + yy > 4.0f)
            return left - 5;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;

        if (xx + yy > 4.0f)
            return left - 6;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;

        if (xx + yy > 4.0f)
            return left - 7;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;

        if (xx + yy > 4.0f)
            return left - 8;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;

        if (xx + yy > 4.0f)
            return left - 9;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;

        if (xx + yy > 4.0f)
            return left - 10;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;

        if (xx + yy > 4.0f)
            return left - 11;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;

        if (xx + yy > 4.0f)
            return left - 12;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;

        if (xx + yy > 4.0f)
            return left - 13;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;

        if (xx + yy > 4.0f)
            return left - 14;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;

        if (xx + yy > 4.0f)
            return left - 15;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;

        if (xx + yy > 4.0f)
            return left - 16;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;

        if (xx + yy > 4.0f)
            return left - 17;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;

        if (xx + yy > 4.0f)
            return left - 18;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;

        if (xx + yy > 4.0f)
            return left - 19;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;

        if (xx + yy > 4.0f)
            return left - 20;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;

        left -= 20;
        if (left <= 0)
            return 0;
    } while (true);
}

__global__ void mandelbrot0(uchar4 *image, int width, int height, int crunch, float left, float top, float scale,
                            uchar4 shades, int frame, int shift, int across, int numBlocks)
{
    for (int tile = blockIdx.x; tile < numBlocks; tile += gridDim.x) {
        int px = blockDim.x * (tile % across) + threadIdx.x;
        int py = blockDim.y * (tile / across) + threadIdx.y;

        if (px < width && py < height) {
            int found = turnsLeft(left + px * scale, top + py * scale, crunch);
            int time = found > 0 ? crunch - found : 0;
            uchar4 shade = make_uchar4(0, 0, 0, 0);

            if (time > 0) {
                time += shift;
                shade.x = time * shades.x;
                shade.y = time * shades.y;
                shade.z = time * shades.z;
            }
            int pixel = width * py + px;
            if (frame == 0) {
                image[pixel] = shade;
            } else {
                image[pixel].x = (image[pixel].x * frame + shade.x) / (frame + 1);
                image[pixel].y = (image[pixel].y * frame + shade.y) / (frame + 1);
                image[pixel].z = (image[pixel].z * frame + shade.z) / (frame + 1);
            }
        }
    }
}
