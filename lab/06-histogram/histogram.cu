// How often each of 64 values occurs among n, by four kernels, for values that are spread and for values that
// are mostly equal.
#include "../lab.h"

constexpr int kBins = 64, kThreads = 256, kLanes = 32, kWarps = kThreads / kLanes, kBlocks = 8;

__device__ int first() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ int stride() { return gridDim.x * blockDim.x; }

// All threads of the grid meet at the same 64 counters.
__global__ void histogram_global(const int* x, int* bins, int n) {
  for (int i = first(); i < n; i += stride()) atomicAdd(&bins[x[i]], 1);
}

// Privatisation: each block counts in shared memory, and adds what it has counted once.
__global__ void histogram_shared(const int* x, int* bins, int n) {
  __shared__ int own[kBins];
  for (int b = threadIdx.x; b < kBins; b += kThreads) own[b] = 0;
  __syncthreads();
  for (int i = first(); i < n; i += stride()) atomicAdd(&own[x[i]], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < kBins; b += kThreads) atomicAdd(&bins[b], own[b]);
}

// Counters for each warp: threads meet only those of their warp.
__global__ void histogram_warps(const int* x, int* bins, int n) {
  __shared__ int own[kWarps][kBins];
  int warp = threadIdx.x / kLanes;
  for (int b = threadIdx.x % kLanes; b < kBins; b += kLanes) own[warp][b] = 0;
  __syncwarp();
  for (int i = first(); i < n; i += stride()) atomicAdd(&own[warp][x[i]], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < kBins; b += kThreads) {
    int sum = 0;
    for (int w = 0; w < kWarps; ++w) sum += own[w][b];
    if (sum > 0) atomicAdd(&bins[b], sum);
  }
}

// Aggregation: the lanes of a warp that have met the same value find one another, and one of them adds for
// all.
__global__ void histogram_matched(const int* x, int* bins, int n) {
  __shared__ int own[kBins];
  for (int b = threadIdx.x; b < kBins; b += kThreads) own[b] = 0;
  __syncthreads();
  for (int round = blockIdx.x * kThreads; round < n; round += stride()) {  // the same rounds for a whole warp
    int i = round + threadIdx.x;
    int value = i < n ? x[i] : -1;
    unsigned equal = __match_any_sync(0xffffffff, value);
    bool leads = threadIdx.x % kLanes == __ffs(equal) - 1;
    if (leads && value >= 0) atomicAdd(&own[value], __popc(equal));
  }
  __syncthreads();
  for (int b = threadIdx.x; b < kBins; b += kThreads) atomicAdd(&bins[b], own[b]);
}

int compare(const char* title, const std::vector<int>& x) {
  const int n = int(x.size());
  std::vector<int> expected(kBins);
  for (int value : x) ++expected[value];
  const lab::Array<int> from(x);
  const auto clear = [](int* bins) { MUST(cudaMemset(bins, 0, kBins * sizeof(int))); };
  lab::Table table(title);
  table.row(
      "histogram_global", expected, 0,
      [&](int* bins) { histogram_global<<<kBlocks, kThreads>>>(from, bins, n); }, clear);
  table.row(
      "histogram_shared", expected, 0,
      [&](int* bins) { histogram_shared<<<kBlocks, kThreads>>>(from, bins, n); }, clear);
  table.row(
      "histogram_warps", expected, 0,
      [&](int* bins) { histogram_warps<<<kBlocks, kThreads>>>(from, bins, n); }, clear);
  table.row(
      "histogram_matched", expected, 0,
      [&](int* bins) { histogram_matched<<<kBlocks, kThreads>>>(from, bins, n); }, clear);
  return table.end();
}

int main(int count, char** words) {
  const int n = lab::positive_argument(count, words, 1, 20'000);
  std::vector<int> spread = lab::whole_numbers(n, kBins), mostly_equal = lab::whole_numbers(n, 10 * kBins, 2);
  for (int& value : mostly_equal) value = value < kBins ? value : 7;
  return compare("values that are spread", spread) | compare("values that are mostly 7", mostly_equal);
}
