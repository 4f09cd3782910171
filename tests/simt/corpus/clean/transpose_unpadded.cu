// Why it is right: the tile is read by columns only behind
// the barrier; its bank conflicts are slow, but no fault.
#include <cstdio>
#include <vector>

__global__ void transpose(const float* x, float* y, int width, int height) {
  __shared__ float tile[16][16];
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (column < width && row < height) tile[threadIdx.y][threadIdx.x] = x[row * width + column];
  __syncthreads();
  column = blockIdx.y * 16 + threadIdx.x;
  row = blockIdx.x * 16 + threadIdx.y;
  if (column < height && row < width) y[row * height + column] = tile[threadIdx.x][threadIdx.y];
}

int main() {
  const int width = 50, height = 20;
  std::vector<float> host(width * height);
  for (int i = 0; i < width * height; ++i) host[i] = float(i);
  float *x, *y;
  cudaMalloc(&x, host.size() * sizeof(float));
  cudaMalloc(&y, host.size() * sizeof(float));
  cudaMemcpy(x, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  transpose<<<dim3(4, 2), dim3(16, 16)>>>(x, y, width, height);
  cudaMemcpy(host.data(), y, host.size() * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[1]);
  cudaFree(x);
  cudaFree(y);
  return host[1] == 50.0f && host[height] == 1.0f ? 0 : 1;
}
