// Hillis and Steele's scan with one array in place of two.
#include "../../lab.h"

constexpr int kThreads = 128;

__global__ void scan(const int* x, int* y) {
  __shared__ int sums[kThreads];
  int i = threadIdx.x;
  sums[i] = x[i];
  __syncthreads();
  for (int step = 1; step < kThreads; step *= 2) {
    if (i >= step) sums[i] += sums[i - step];
    __syncthreads();
  }
  y[i] = sums[i];
}

int main() {
  const std::vector<int> x = lab::whole_numbers(kThreads, 10);
  std::vector<int> expected(kThreads);
  for (int i = 0, sum = 0; i < kThreads; ++i) expected[i] = sum += x[i];
  const lab::Array<int> from(x);
  lab::Table table("128 numbers");
  table.row("scan", expected, 0, [&](int* y) { scan<<<1, kThreads>>>(from, y); });
  return table.end();
}
