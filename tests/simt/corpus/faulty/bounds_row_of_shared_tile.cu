// What is wrong: the tile has a halo on one side only, but
// the kernel reads on both; row 17 of 17 does not exist.
#include <cstdio>
#include <vector>

constexpr int kTile = 16;

__global__ void vertical_gradient(const float* image, float* result, int height) {
  __shared__ float tile[kTile + 1][kTile];  // also: out-of-bounds
  const int column = blockIdx.x * kTile + threadIdx.x, width = gridDim.x * kTile;
  const int top = blockIdx.y * kTile;
  for (int row = threadIdx.y; row < kTile + 1; row += kTile) {
    tile[row][threadIdx.x] = image[min(max(top + row - 1, 0), height - 1) * width + column];
  }
  __syncthreads();
  const float below = tile[threadIdx.y + 2][threadIdx.x];  // report: out-of-bounds
  result[(top + threadIdx.y) * width + column] = below - tile[threadIdx.y][threadIdx.x];
}

int main() {
  const int width = 32, height = 32;
  std::vector<float> host(width * height, 1.0f);
  float *image, *result;
  cudaMalloc(&image, host.size() * sizeof(float));
  cudaMalloc(&result, host.size() * sizeof(float));
  cudaMemcpy(image, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  vertical_gradient<<<dim3(2, 2), dim3(kTile, kTile)>>>(image, result, height);
  cudaMemcpy(host.data(), result, host.size() * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[0]);
  cudaFree(image);
  cudaFree(result);
}
