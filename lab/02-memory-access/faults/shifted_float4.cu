// Copies x[1], x[2], … in groups of four elements. What may the address of a float4 not be?
#include "../../lab.h"

__global__ void copy_shifted(const float* x, float* y, int groups) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= groups) return;
  float4 four = *reinterpret_cast<const float4*>(x + 1 + 4 * i);
  reinterpret_cast<float4*>(y)[i] = four;
}

int main() {
  const int n = 1024;
  const std::vector<float> x = lab::numbers(n + 1);
  const lab::Array<float> from(x);
  lab::Table table("1024 elements, from the second on");
  table.row("copy_shifted", std::vector<float>(x.begin() + 1, x.end()), 0,
            [&](float* y) { copy_shifted<<<1, n / 4>>>(from, y, n / 4); });
  return table.end();
}
