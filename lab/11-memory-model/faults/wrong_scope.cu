// The last block of a grid adds up. There are fences at the right places; what do they reach?
#include "../../lab.h"

constexpr int kBlocks = 8;

__global__ void sum(const int* x, int* y, int* pieces, unsigned* done) {
  pieces[blockIdx.x] = x[blockIdx.x] * x[blockIdx.x];
  __threadfence_block();
  if (atomicAdd(done, 1) < kBlocks - 1) return;
  __threadfence_block();
  int sum = 0;
  for (int b = 0; b < kBlocks; ++b) sum += pieces[b];
  *y = sum;
}

int main() {
  const std::vector<int> x = lab::whole_numbers(kBlocks, 100);
  int expected = 0;
  for (int value : x) expected += value * value;
  const lab::Array<int> from(x), pieces(kBlocks);
  lab::Array<unsigned> done(1);
  done.clear();
  lab::Table table("8 squares");
  table.row("sum", std::vector<int>{expected}, 0,
            [&](int* y) { sum<<<kBlocks, 1>>>(from, y, pieces, done); });
  return table.end();
}
