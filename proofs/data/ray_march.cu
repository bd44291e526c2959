// A volume is seen along rays, a thread for each: a ray ends where the volume does, or where nothing shines through.
//@ launch block = 16, 16;
__global__ void ray_march(const float *volume, float *image, int width, int height, int depth, int steps) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float light = 0, left = 1, z = 0;
    for (int k = 0; k < steps; k++) {
        int slice = (int)z;
        if (slice >= depth) break;
        float v = volume[(slice * height + y) * width + x];
        light += left * v;
        left *= 1 - v;
        if (left < 0.05f) break;
        z += 0.5f + v;
    }
    image[y * width + x] = light;
}
