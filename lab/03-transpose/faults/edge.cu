// Turns a matrix whose sizes are no multiples of the tile's. The first guard is right; is the second?
#include "../../lab.h"

constexpr int kTile = 16;

__global__ void transpose(const float* x, float* y, int rows, int columns) {
  __shared__ float tile[kTile][kTile + 1];
  int column = blockIdx.x * kTile + threadIdx.x, row = blockIdx.y * kTile + threadIdx.y;
  if (row < rows && column < columns) tile[threadIdx.y][threadIdx.x] = x[row * columns + column];
  __syncthreads();
  int to_column = blockIdx.y * kTile + threadIdx.x, to_row = blockIdx.x * kTile + threadIdx.y;
  if (row < rows && column < columns) y[to_row * rows + to_column] = tile[threadIdx.x][threadIdx.y];
}

int main() {
  const int rows = 40, columns = 56;
  const std::vector<float> x = lab::numbers(rows * columns);
  std::vector<float> expected(x.size());
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) expected[c * rows + r] = x[r * columns + c];
  const lab::Array<float> from(x);
  const dim3 grid((columns + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
  lab::Table table("40×56");
  table.row("transpose", expected, 0,
            [&](float* y) { transpose<<<grid, dim3(kTile, kTile)>>>(from, y, rows, columns); });
  return table.end();
}
