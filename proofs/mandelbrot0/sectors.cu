// The sectors of mandelbrot0, with the derivation in its source: `warpbound check proofs/mandelbrot0/sectors.cu`.
// A tile costs a warp at most 30: in all frames but the first, red, green and blue are each read and written, 4 bytes
// apart for 32 pixels of a row that begins anywhere (5 sectors each); the first is stored at once (5). A pixel's loop
// reads and writes no array. `tile` is the same for all threads and grows.

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

//@ metric sectors;
//@ launch block = 32;
__global__ void mandelbrot0(uchar4 *image, int width, int height, int crunch, float left, float top, float scale,
                            uchar4 shades, int frame, int shift, int across, int numBlocks)
{
    //@ potential 30*|[0, numBlocks]|;
    //@ loop invariant tile >= 0;
    //@ loop potential 30*|[tile, numBlocks]|;
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
