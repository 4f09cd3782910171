// What scans are for: keeps the elements of x above 0, in their order. The scan of "is kept" says where each
// of them goes.
#include "../lab.h"

constexpr int kThreads = 256, kLanes = 32;

// How many of the lanes before this one keep their element: a scan of bits is a count of bits.
__device__ int kept_before(unsigned kept) { return __popc(kept & ((1u << threadIdx.x % kLanes) - 1)); }

// One block, in rounds. The counts of the warps before say where a warp's places begin, so the order is kept.
__global__ void keep_positive(const float* x, float* y, int* count, int n) {
  __shared__ int of_warp[kThreads / kLanes];
  __shared__ int begin;  // of this round
  int warp = threadIdx.x / kLanes;
  if (threadIdx.x == 0) begin = 0;
  for (int round = 0; round < n; round += kThreads) {
    int i = round + threadIdx.x;
    bool keeps = i < n && x[i] > 0;
    unsigned kept = __ballot_sync(0xffffffff, keeps);
    if (threadIdx.x % kLanes == 0) of_warp[warp] = __popc(kept);
    __syncthreads();
    int place = begin + kept_before(kept);
    for (int w = 0; w < warp; ++w) place += of_warp[w];
    if (keeps) y[place] = x[i];
    __syncthreads();  // all have read `begin` and the counts
    if (threadIdx.x == 0)
      for (int w = 0; w < kThreads / kLanes; ++w) begin += of_warp[w];
    __syncthreads();
  }
  if (threadIdx.x == 0) *count = begin;
}

int main() {
  const int n = 5000;
  const std::vector<float> x = lab::numbers(n);
  std::vector<float> expected;
  for (float value : x)
    if (value > 0) expected.push_back(value);
  const lab::Array<float> from(x);
  const lab::Array<int> counted(1);

  lab::Table table("the positive ones of 5000 numbers");
  table.row("keep_positive", expected, 0,
            [&](float* y) { keep_positive<<<1, kThreads>>>(from, y, counted, n); });
  printf("%d were kept\n", counted.values()[0]);
  return table.end();
}
