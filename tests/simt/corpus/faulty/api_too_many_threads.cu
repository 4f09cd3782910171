// What is wrong: a block of 64 × 32 threads is twice as large as a block can be, and the launch fails.
#include <cstdio>
#include <vector>

__global__ void invert(unsigned char* image, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) image[y * width + x] = 255 - image[y * width + x];
}

int main() {
  const int width = 100, height = 60;
  std::vector<unsigned char> host(width * height, 10);
  unsigned char* image;
  cudaMalloc(&image, host.size());
  cudaMemcpy(image, host.data(), host.size(), cudaMemcpyHostToDevice);
  const dim3 block(64, 32);
  invert<<<dim3(2, 2), block>>>(image, width, height);  // report: api
  cudaMemcpy(host.data(), image, host.size(), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[0]);
  cudaFree(image);
}
