// The scan of lesson 5 in a single launch: each block looks back at what those before it have published.
#include "../lab.h"

constexpr int kThreads = 256, kLanes = 32;

// A block's state is one word, so that value and meaning arrive together: nothing yet, the sum of the block
// alone, or the sum of all up to it.
enum Meaning : unsigned { nothing, own_sum, whole_sum };

__device__ void publish(unsigned long long* state, Meaning meaning, int sum) {
  atomicExch(state, static_cast<unsigned long long>(meaning) << 32 | unsigned(sum));
}

// The sum of all blocks before `block`: sums of single blocks, until one is found that knows the whole
// beginning.
__device__ int look_back(unsigned long long* states, int block) {
  int sum = 0;
  while (block > 0) {
    unsigned long long state = atomicAdd(&states[block - 1], 0ull);
    if (state >> 32 == nothing) continue;  // it is at work: look again
    sum += int(state);
    if (state >> 32 == whole_sum) break;
    --block;
  }
  return sum;
}

__device__ int scan_of_warp(int value) {
  for (int step = 1; step < kLanes; step *= 2) {
    int before = __shfl_up_sync(0xffffffff, value, step);
    if (threadIdx.x % kLanes >= step) value += before;
  }
  return value;
}

__device__ int scan_of_block(int value) {
  __shared__ int sums[kThreads / kLanes];
  int warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
  value = scan_of_warp(value);
  if (lane == kLanes - 1) sums[warp] = value;
  __syncthreads();
  for (int w = 0; w < warp; ++w) value += sums[w];
  return value;
}

// Blocks take their numbers in the order in which they begin. So whoever waits, waits for blocks that have
// begun, and these go on: a number from blockIdx could belong to a block that begins only when this one ends.
__global__ void scan_look_back(const int* x, int* y, unsigned long long* states, int* next, int n) {
  __shared__ int block, before;
  if (threadIdx.x == 0) block = atomicAdd(next, 1);
  __syncthreads();
  int i = block * kThreads + threadIdx.x;
  int value = scan_of_block(i < n ? x[i] : 0);
  if (threadIdx.x == kThreads - 1) {  // it has the block's sum
    publish(&states[block], own_sum, value);
    before = look_back(states, block);
    publish(&states[block], whole_sum, before + value);
  }
  __syncthreads();
  if (i < n) y[i] = before + value;
}

int main(int count, char** words) {
  const int n = lab::positive_argument(count, words, 1, 10'000), blocks = (n + kThreads - 1) / kThreads;
  const std::vector<int> x = lab::whole_numbers(n, 10);
  std::vector<int> expected(n);
  for (int i = 0, sum = 0; i < n; ++i) expected[i] = sum += x[i];
  const lab::Array<int> from(x);
  lab::Array<int> next(1);
  lab::Array<unsigned long long> states(blocks);

  lab::Table table("the sums of all beginnings");
  table.row(
      "scan_look_back", expected, 0,
      [&](int* y) { scan_look_back<<<blocks, kThreads>>>(from, y, states, next, n); },
      [&](int*) { next.clear(), states.clear(); });
  return table.end();
}
