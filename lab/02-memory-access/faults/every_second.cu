// Takes every second element of x into y. Nothing is wrong with most blocks.
#include "../../lab.h"

__global__ void every_second(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[2 * i];
}

int main() {
  const int n = 1000;
  const std::vector<float> x = lab::numbers(n);
  const lab::Array<float> from(x);
  std::vector<float> expected(n / 2);
  for (int i = 0; i < n / 2; ++i) expected[i] = x[2 * i];
  lab::Table table("every second of 1000 elements");
  table.row("every_second", expected, 0, [&](float* y) { every_second<<<4, 128>>>(from, y, n); });
  return table.end();
}
