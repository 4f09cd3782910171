// Turns a square matrix in tiles. Two threads use each element of the tile: what keeps them in order?
#include "../../lab.h"

constexpr int kTile = 16;

__global__ void transpose(const float* x, float* y, int n) {
  __shared__ float tile[kTile][kTile + 1];
  int column = blockIdx.x * kTile + threadIdx.x, row = blockIdx.y * kTile + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = x[row * n + column];
  int to_column = blockIdx.y * kTile + threadIdx.x, to_row = blockIdx.x * kTile + threadIdx.y;
  y[to_row * n + to_column] = tile[threadIdx.x][threadIdx.y];
}

int main() {
  const int n = 64;
  const std::vector<float> x = lab::numbers(n * n);
  std::vector<float> expected(x.size());
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < n; ++c) expected[c * n + r] = x[r * n + c];
  const lab::Array<float> from(x);
  lab::Table table("64×64");
  table.row("transpose", expected, 0,
            [&](float* y) { transpose<<<dim3(n / kTile, n / kTile), dim3(kTile, kTile)>>>(from, y, n); });
  return table.end();
}
