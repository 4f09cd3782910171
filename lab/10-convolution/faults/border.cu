// A blur of 3×3 pixels by tiles in shared memory: each block brings its tile and the pixels around it.
#include "../../lab.h"

constexpr int kTile = 8, kHalo = kTile + 2;

__global__ void blur(const float* x, float* y, int n) {
  __shared__ float tile[kHalo][kHalo];
  int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  for (int i = threadIdx.y * kTile + threadIdx.x; i < kHalo * kHalo; i += kTile * kTile) {
    int from_row = blockIdx.y * kTile + i / kHalo - 1, from_column = blockIdx.x * kTile + i % kHalo - 1;
    if (from_row >= 0 && from_row < n && from_column >= 0 && from_column < n)
      tile[i / kHalo][i % kHalo] = x[from_row * n + from_column];
  }
  __syncthreads();
  float sum = 0;
  for (int r = 0; r < 3; ++r)
    for (int s = 0; s < 3; ++s) sum += tile[threadIdx.y + r][threadIdx.x + s];
  y[row * n + column] = sum / 9;
}

int main() {
  const int n = 24;
  const std::vector<float> x = lab::numbers(n * n);
  std::vector<float> expected(n * n);
  for (int p = 0; p < n; ++p)
    for (int q = 0; q < n; ++q)
      for (int r = std::max(0, p - 1); r < std::min(n, p + 2); ++r)
        for (int s = std::max(0, q - 1); s < std::min(n, q + 2); ++s) expected[p * n + q] += x[r * n + s] / 9;
  const lab::Array<float> device_x(x);
  lab::Table table("24×24 pixels");
  table.row("blur", expected, 1e-6,
            [&](float* y) { blur<<<dim3(n / kTile, n / kTile), dim3(kTile, kTile)>>>(device_x, y, n); });
  return table.end();
}
