// Why it is right: rows are reached by their pitch in bytes, through a pointer to char.
#include <cstdio>
#include <vector>

__global__ void brighten(char* image, size_t pitch, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float* row = reinterpret_cast<float*>(image + y * pitch);
  row[x] += 0.25f;
}

int main() {
  const int width = 100, height = 20;
  const size_t row_bytes = width * sizeof(float);
  std::vector<float> host(width * height, 0.5f);
  char* image;
  size_t pitch;
  cudaMallocPitch(&image, &pitch, row_bytes, height);
  cudaMemcpy2D(image, pitch, host.data(), row_bytes, row_bytes, height, cudaMemcpyHostToDevice);
  brighten<<<dim3(7, 3), dim3(16, 8)>>>(image, pitch, width, height);
  cudaMemcpy2D(host.data(), row_bytes, image, pitch, row_bytes, height, cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[width * height - 1]);
  cudaFree(image);
  return host[0] == 0.75f && host[width * height - 1] == 0.75f ? 0 : 1;
}
