// Softmax of short rows, a block for each. The tree adds what all threads have left in shared memory; have
// they all?
#include "../../lab.h"

constexpr int kThreads = 64;

__global__ void softmax(const float* x, float* y, int columns) {
  __shared__ float sums[kThreads];
  int i = threadIdx.x;
  x += blockIdx.x * columns, y += blockIdx.x * columns;
  if (i < columns) sums[i] = expf(x[i]);
  __syncthreads();
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (i < step) sums[i] += sums[i + step];
    __syncthreads();
  }
  if (i < columns) y[i] = expf(x[i]) / sums[0];
}

int main() {
  const int rows = 4, columns = 50;
  const std::vector<float> x = lab::numbers(rows * columns);
  std::vector<float> expected(x.size());
  for (int row = 0; row < rows; ++row) {
    double sum = 0;
    for (int i = 0; i < columns; ++i) sum += std::exp(double(x[row * columns + i]));
    for (int i = 0; i < columns; ++i)
      expected[row * columns + i] = float(std::exp(double(x[row * columns + i])) / sum);
  }
  const lab::Array<float> device_x(x);
  lab::Table table("4 rows of 50 numbers");
  table.row("softmax", expected, 1e-6, [&](float* y) { softmax<<<rows, kThreads>>>(device_x, y, columns); });
  return table.end();
}
