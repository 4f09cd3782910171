// What is wrong: the next tiles are loaded while slower warps still multiply the present ones.
#include <cstdio>
#include <vector>

constexpr int kTile = 16;

__global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < n; k += kTile) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];       // also: race
    tile_b[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];  // also: race
    __syncthreads();
    for (int i = 0; i < kTile; ++i) {
      sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];  // report: race
    }
  }
  c[row * n + column] = sum;
}

int main() {
  const int n = 32, bytes = n * n * sizeof(float);
  std::vector<float> host(n * n);
  for (int i = 0; i < n * n; ++i) host[i] = float(i % 10);
  float *a, *b, *c;
  cudaMalloc(&a, bytes);
  cudaMalloc(&b, bytes);
  cudaMalloc(&c, bytes);
  cudaMemcpy(a, host.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(b, host.data(), bytes, cudaMemcpyHostToDevice);
  matmul<<<dim3(n / kTile, n / kTile), dim3(kTile, kTile)>>>(a, b, c, n);
  cudaMemcpy(host.data(), c, bytes, cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[0]);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
}
