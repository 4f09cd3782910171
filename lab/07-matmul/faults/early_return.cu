// The same for any size: threads without an element of C leave at the beginning, as they do in the naive
// kernel.
#include "../../lab.h"

constexpr int kTile = 16;

__global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
  int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  if (row >= n || column >= n) return;
  float sum = 0;
  for (int first = 0; first < n; first += kTile) {
    int a_column = first + threadIdx.x, b_row = first + threadIdx.y;
    a_tile[threadIdx.y][threadIdx.x] = a_column < n ? a[row * n + a_column] : 0;
    b_tile[threadIdx.y][threadIdx.x] = b_row < n ? b[b_row * n + column] : 0;
    __syncthreads();
    for (int k = 0; k < kTile && first + k < n; ++k) sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

int main() {
  const int n = 40;
  const std::vector<float> a = lab::numbers(n * n, 1), b = lab::numbers(n * n, 2);
  std::vector<float> expected(n * n);
  for (int row = 0; row < n; ++row)
    for (int column = 0; column < n; ++column)
      for (int k = 0; k < n; ++k) expected[row * n + column] += a[row * n + k] * b[k * n + column];
  const lab::Array<float> device_a(a), device_b(b);
  const int blocks = (n + kTile - 1) / kTile;
  lab::Table table("40×40");
  table.row("matmul", expected, 2 * n * n * 0x1p-24, [&](float* c) {
    matmul<<<dim3(blocks, blocks), dim3(kTile, kTile)>>>(device_a, device_b, c, n);
  });
  return table.end();
}
