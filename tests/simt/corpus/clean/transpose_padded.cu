// Why it is right: the tile has one column more than it uses, which is neither written nor read.
#include <cstdio>
#include <vector>

constexpr int kTile = 32, kRows = 8;

__global__ void transpose(const float* x, float* y, int n) {
  __shared__ float tile[kTile][kTile + 1];
  const int column = blockIdx.x * kTile + threadIdx.x, row = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) tile[threadIdx.y + j][threadIdx.x] = x[(row + j) * n + column];
  __syncthreads();
  const int to_column = blockIdx.y * kTile + threadIdx.x, to_row = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) y[(to_row + j) * n + to_column] = tile[threadIdx.x][threadIdx.y + j];
}

int main() {
  const int n = 64;
  std::vector<float> host(n * n);
  for (int i = 0; i < n * n; ++i) host[i] = float(i);
  float *x, *y;
  cudaMalloc(&x, host.size() * sizeof(float));
  cudaMalloc(&y, host.size() * sizeof(float));
  cudaMemcpy(x, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  transpose<<<dim3(n / kTile, n / kTile), dim3(kTile, kRows)>>>(x, y, n);
  cudaMemcpy(host.data(), y, host.size() * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[1]);
  cudaFree(x);
  cudaFree(y);
  return host[1] == float(n) && host[n] == 1.0f ? 0 : 1;
}
