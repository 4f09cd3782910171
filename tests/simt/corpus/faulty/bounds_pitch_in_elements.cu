// What is wrong: the pitch counts bytes, but the kernel uses it as a number of floats and leaves the image.
#include <cstdio>
#include <vector>

__global__ void brighten(float* image, size_t pitch, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) image[y * pitch + x] += 0.1f;  // report: out-of-bounds
}

int main() {
  const int width = 100, height = 24;
  std::vector<float> host(width * height, 0.5f);
  float* image;
  size_t pitch;
  cudaMallocPitch(&image, &pitch, width * sizeof(float), height);  // also: out-of-bounds
  cudaMemcpy2D(image, pitch, host.data(), width * sizeof(float), width * sizeof(float), height,
               cudaMemcpyHostToDevice);
  brighten<<<dim3(7, 3), dim3(16, 8)>>>(image, pitch, width, height);
  cudaMemcpy2D(host.data(), width * sizeof(float), image, pitch, width * sizeof(float), height,
               cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[width]);
  cudaFree(image);
}
