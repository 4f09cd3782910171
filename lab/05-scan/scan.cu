// y[i] = x[0] + … + x[i]: the inclusive scan of n whole numbers, with three ways to scan a block.
#include "../lab.h"

constexpr int kThreads = 256, kLanes = 32;

// Each scans the values of a block's threads, a value each, in shared memory of 2 · kThreads numbers.

// Hillis and Steele: in step s each thread adds what stood s places before. n log n additions, log n steps.
// Two arrays take turns, so that nobody writes what another thread still reads.
struct HillisSteele {
  static __device__ int scan(int* shared, int value) {
    int i = threadIdx.x;
    int *from = shared, *to = shared + kThreads;
    from[i] = value;
    __syncthreads();
    for (int step = 1; step < kThreads; step *= 2) {
      to[i] = i >= step ? from[i] + from[i - step] : from[i];
      __syncthreads();
      int* other = from;
      from = to, to = other;
    }
    return from[i];
  }
};

// Blelloch: sums climb a tree and come down again as the sums of all that stands to the left. 2 n additions,
// 2 log n steps.
struct Blelloch {
  static __device__ int scan(int* shared, int value) {
    int i = threadIdx.x;
    shared[i] = value;
    for (int step = 1; step < kThreads; step *= 2) {
      __syncthreads();
      int place = (i + 1) * 2 * step - 1;
      if (place < kThreads) shared[place] += shared[place - step];
    }
    __syncthreads();
    if (i == 0) shared[kThreads - 1] = 0;
    for (int step = kThreads / 2; step > 0; step /= 2) {
      __syncthreads();
      int place = (i + 1) * 2 * step - 1;
      if (place < kThreads) {
        int left = shared[place - step];
        shared[place - step] = shared[place];
        shared[place] += left;
      }
    }
    __syncthreads();
    return shared[i] + value;  // what came down leaves the element itself out
  }
};

// A warp scans in registers; then the first warp scans the sums of the warps. Two barriers.
struct Shuffle {
  static __device__ int scan_of_warp(int value) {
    int lane = threadIdx.x % kLanes;
    for (int step = 1; step < kLanes; step *= 2) {
      int before = __shfl_up_sync(0xffffffff, value, step);
      if (lane >= step) value += before;
    }
    return value;
  }
  static __device__ int scan(int* shared, int value) {
    int warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
    value = scan_of_warp(value);
    if (lane == kLanes - 1) shared[warp] = value;
    __syncthreads();
    if (warp == 0) {
      int sum = scan_of_warp(lane < kThreads / kLanes ? shared[lane] : 0);
      if (lane < kThreads / kLanes) shared[lane] = sum;
    }
    __syncthreads();
    return warp > 0 ? value + shared[warp - 1] : value;
  }
};

// Scans each block by itself and leaves its sum.
template <class Scan>
__global__ void scan_blocks(const int* x, int* y, int* sums, int n) {
  __shared__ int shared[2 * kThreads];
  int i = blockIdx.x * kThreads + threadIdx.x;
  int value = Scan::scan(shared, i < n ? x[i] : 0);
  if (i < n) y[i] = value;
  if (sums != nullptr && threadIdx.x == kThreads - 1) sums[blockIdx.x] = value;
}

// Adds what the blocks before have summed up.
__global__ void add_blocks(int* y, const int* sums, int n) {
  int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n && blockIdx.x > 0) y[i] += sums[blockIdx.x - 1];
}

int main(int count, char** words) {
  int n = lab::positive_argument(count, words, 1, 10'000);
  if (n > kThreads * kThreads) {
    printf("the length is 1 to %d\n", kThreads * kThreads);
    return 1;
  }
  const std::vector<int> x = lab::whole_numbers(n, 10);
  std::vector<int> expected(n);
  for (int i = 0, sum = 0; i < n; ++i) expected[i] = sum += x[i];
  const int blocks = (n + kThreads - 1) / kThreads;
  const lab::Array<int> from(x), sums(blocks);

  lab::Table table("the sums of all beginnings");
  // Three launches: blocks, the sums of blocks (which fit into one), and the addition.
  table.row("scan<HillisSteele>", expected, 0, [&](int* y) {
    scan_blocks<HillisSteele><<<blocks, kThreads>>>(from, y, sums, n);
    scan_blocks<HillisSteele><<<1, kThreads>>>(sums, sums, nullptr, blocks);
    add_blocks<<<blocks, kThreads>>>(y, sums, n);
  });
  table.row("scan<Blelloch>", expected, 0, [&](int* y) {
    scan_blocks<Blelloch><<<blocks, kThreads>>>(from, y, sums, n);
    scan_blocks<Blelloch><<<1, kThreads>>>(sums, sums, nullptr, blocks);
    add_blocks<<<blocks, kThreads>>>(y, sums, n);
  });
  table.row("scan<Shuffle>", expected, 0, [&](int* y) {
    scan_blocks<Shuffle><<<blocks, kThreads>>>(from, y, sums, n);
    scan_blocks<Shuffle><<<1, kThreads>>>(sums, sums, nullptr, blocks);
    add_blocks<<<blocks, kThreads>>>(y, sums, n);
  });
  return table.end();
}
