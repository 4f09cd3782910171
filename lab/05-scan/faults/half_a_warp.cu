// A warp scans in registers, but the lanes that have nothing to add have left. Who may name whom in a mask?
#include "../../lab.h"

constexpr int kLanes = 32;

__global__ void scan(const int* x, int* y) {
  int lane = threadIdx.x;
  int value = x[lane];
  for (int step = 1; step < kLanes; step *= 2)
    if (lane >= step) value += __shfl_up_sync(0xffffffff, value, step);
  y[lane] = value;
}

int main() {
  const std::vector<int> x = lab::whole_numbers(kLanes, 10);
  std::vector<int> expected(kLanes);
  for (int i = 0, sum = 0; i < kLanes; ++i) expected[i] = sum += x[i];
  const lab::Array<int> from(x);
  lab::Table table("32 numbers");
  table.row("scan", expected, 0, [&](int* y) { scan<<<1, kLanes>>>(from, y); });
  return table.end();
}
