// Why it is right: one barrier stands between the load of a
// tile and its use, one between its use and the next load.
#include <cstdio>
#include <vector>

constexpr int kTile = 16;

__global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < n; k += kTile) {
    const int i = k + threadIdx.x, j = k + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] = row < n && i < n ? a[row * n + i] : 0.0f;
    tile_b[threadIdx.y][threadIdx.x] = column < n && j < n ? b[j * n + column] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int m = 0; m < kTile; ++m) sum += tile_a[threadIdx.y][m] * tile_b[m][threadIdx.x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

int main() {
  const int n = 40, bytes = n * n * sizeof(float), blocks = (n + kTile - 1) / kTile;
  std::vector<float> host(n * n, 0.5f);
  float *a, *b, *c;
  cudaMalloc(&a, bytes);
  cudaMalloc(&b, bytes);
  cudaMalloc(&c, bytes);
  cudaMemcpy(a, host.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(b, host.data(), bytes, cudaMemcpyHostToDevice);
  matmul<<<dim3(blocks, blocks), dim3(kTile, kTile)>>>(a, b, c, n);
  cudaMemcpy(host.data(), c, bytes, cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[n * n - 1]);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
  return host[n * n - 1] == 10.0f ? 0 : 1;
}
