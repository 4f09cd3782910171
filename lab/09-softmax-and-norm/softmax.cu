// y = softmax of each row of x: exp(x − m) / Σ exp(x − m), with m the largest element of the row.
#include "../lab.h"

constexpr int kThreads = 256, kLanes = 32;
constexpr int kLongest = 256;  // elements of a row that fit into a warp's registers here

// A thread for each row, three passes: the largest, the sum, the quotients. Neighbouring threads read a row
// apart.
__global__ void softmax_naive(const float* x, float* y, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += row * columns, y += row * columns;
  float largest = -INFINITY, sum = 0;
  for (int i = 0; i < columns; ++i) largest = fmaxf(largest, x[i]);
  for (int i = 0; i < columns; ++i) sum += expf(x[i] - largest);
  for (int i = 0; i < columns; ++i) y[i] = expf(x[i] - largest) / sum;
}

// Sum and largest element of one walk: where a larger one comes, what was summed up so far shrinks.
struct Online {
  float largest = -INFINITY, sum = 0;

  __device__ void add(float value) {
    float before = largest;
    largest = fmaxf(largest, value);
    sum = sum * expf(before - largest) + expf(value - largest);
  }
  __device__ void add(const Online& other) {
    if (other.sum == 0) return;
    float before = largest;
    largest = fmaxf(largest, other.largest);
    sum = sum * expf(before - largest) + other.sum * expf(other.largest - largest);
  }
};

// A block for each row. Threads walk it once, then their results meet in a tree; a second walk divides.
__global__ void softmax_online(const float* x, float* y, int columns) {
  __shared__ Online parts[kThreads];
  x += blockIdx.x * columns, y += blockIdx.x * columns;
  Online own;
  for (int i = threadIdx.x; i < columns; i += kThreads) own.add(x[i]);
  parts[threadIdx.x] = own;
  __syncthreads();
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) parts[threadIdx.x].add(parts[threadIdx.x + step]);
    __syncthreads();
  }
  Online row = parts[0];
  for (int i = threadIdx.x; i < columns; i += kThreads) y[i] = expf(x[i] - row.largest) / row.sum;
}

__device__ float largest_of_warp(float value) {
  for (int step = kLanes / 2; step > 0; step /= 2)
    value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, step));
  return value;
}

__device__ float sum_of_warp(float value) {
  for (int step = kLanes / 2; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffff, value, step);
  return value;
}

// A warp for each row, which it keeps in registers: memory is read once, and no barrier is needed. The xor
// leaves what the lanes have found in every lane.
__global__ void softmax_warp(const float* x, float* y, int rows, int columns) {
  int row = (blockIdx.x * kThreads + threadIdx.x) / kLanes, lane = threadIdx.x % kLanes;
  if (row >= rows) return;  // whole warps
  x += row * columns, y += row * columns;
  float kept[kLongest / kLanes], largest = -INFINITY, sum = 0;
#pragma unroll
  for (int j = 0; j < kLongest / kLanes; ++j) {
    int i = lane + j * kLanes;
    kept[j] = i < columns ? x[i] : -INFINITY;
    largest = fmaxf(largest, kept[j]);
  }
  largest = largest_of_warp(largest);
#pragma unroll
  for (int j = 0; j < kLongest / kLanes; ++j) sum += kept[j] = expf(kept[j] - largest);
  sum = sum_of_warp(sum);
#pragma unroll
  for (int j = 0; j < kLongest / kLanes; ++j)
    if (int i = lane + j * kLanes; i < columns) y[i] = kept[j] / sum;
}

int main() {
  const int rows = 48, columns = 200;
  std::vector<float> x = lab::numbers(rows * columns);
  for (float& value : x) value = 100 * value;  // exp(100) is no float any more
  std::vector<float> expected(x.size());
  for (int row = 0; row < rows; ++row) {
    const float* from = &x[row * columns];
    const double largest = *std::max_element(from, from + columns);
    double sum = 0;
    for (int i = 0; i < columns; ++i) sum += std::exp(from[i] - largest);
    for (int i = 0; i < columns; ++i) expected[row * columns + i] = float(std::exp(from[i] - largest) / sum);
  }
  const lab::Array<float> device_x(x);

  lab::Table table("48 rows of 200 numbers");
  // The difference x − m, of at most 200, is rounded by 200 · 2^-24, and so is its exponential relatively;
  // sums add little.
  const double tolerance = 3 * 200 * 0x1p-24;
  table.row("softmax_naive", expected, tolerance,
            [&](float* y) { softmax_naive<<<1, kThreads>>>(device_x, y, rows, columns); });
  table.row("softmax_online", expected, tolerance,
            [&](float* y) { softmax_online<<<rows, kThreads>>>(device_x, y, columns); });
  table.row("softmax_warp", expected, tolerance, [&](float* y) {
    softmax_warp<<<(rows * kLanes + kThreads - 1) / kThreads, kThreads>>>(device_x, y, rows, columns);
  });
  return table.end();
}
