// The largest element of rows, a warp for each. Rows are shorter than a warp is wide.
#include "../../lab.h"

constexpr int kLanes = 32;

__global__ void largest(const float* x, float* y, int columns) {
  int row = blockIdx.x, lane = threadIdx.x;
  if (lane >= columns) return;
  float best = x[row * columns + lane];
  for (int step = kLanes / 2; step > 0; step /= 2)
    best = fmaxf(best, __shfl_xor_sync(0xffffffff, best, step));
  if (lane == 0) y[row] = best;
}

int main() {
  const int rows = 6, columns = 20;
  const std::vector<float> x = lab::numbers(rows * columns);
  std::vector<float> expected(rows);
  for (int row = 0; row < rows; ++row)
    expected[row] = *std::max_element(&x[row * columns], &x[row * columns] + columns);
  const lab::Array<float> device_x(x);
  lab::Table table("6 rows of 20 numbers");
  table.row("largest", expected, 0, [&](float* y) { largest<<<rows, kLanes>>>(device_x, y, columns); });
  return table.end();
}
