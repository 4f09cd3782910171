// A tiled product. One barrier in the loop seems to be enough: all elements of the tiles are there when they
// are read.
#include "../../lab.h"

constexpr int kTile = 16;

__global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
  int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int first = 0; first < n; first += kTile) {
    a_tile[threadIdx.y][threadIdx.x] = a[row * n + first + threadIdx.x];
    b_tile[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
  }
  c[row * n + column] = sum;
}

int main() {
  const int n = 64;
  const std::vector<float> a = lab::numbers(n * n, 1), b = lab::numbers(n * n, 2);
  std::vector<float> expected(n * n);
  for (int row = 0; row < n; ++row)
    for (int column = 0; column < n; ++column)
      for (int k = 0; k < n; ++k) expected[row * n + column] += a[row * n + k] * b[k * n + column];
  const lab::Array<float> device_a(a), device_b(b);
  lab::Table table("64×64");
  table.row("matmul", expected, 2 * n * n * 0x1p-24, [&](float* c) {
    matmul<<<dim3(n / kTile, n / kTile), dim3(kTile, kTile)>>>(device_a, device_b, c, n);
  });
  return table.end();
}
