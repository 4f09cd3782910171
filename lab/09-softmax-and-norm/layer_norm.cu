// y = (x − mean) / sqrt(variance + ε) of each row of x.
#include "../lab.h"

constexpr int kThreads = 256, kLanes = 32;
constexpr float kEpsilon = 1e-5f;

// A thread for each row, and the formula Σx²/n − mean², in one pass. It is short, and wrong where the mean is
// large beside the deviation: it subtracts two large numbers that are nearly equal.
__global__ void layer_norm_squares(const float* x, float* y, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += row * columns, y += row * columns;
  float sum = 0, squares = 0;
  for (int i = 0; i < columns; ++i) sum += x[i], squares += x[i] * x[i];
  float mean = sum / columns, variance = squares / columns - mean * mean;
  for (int i = 0; i < columns; ++i) y[i] = (x[i] - mean) * rsqrtf(variance + kEpsilon);
}

__device__ float sum_of_warp(float value) {
  for (int step = kLanes / 2; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffff, value, step);
  return value;
}

// A warp for each row: the mean, then the squares of the distances from it, then the results. Three passes.
__global__ void layer_norm_two_pass(const float* x, float* y, int rows, int columns) {
  int row = (blockIdx.x * kThreads + threadIdx.x) / kLanes, lane = threadIdx.x % kLanes;
  if (row >= rows) return;
  x += row * columns, y += row * columns;
  float sum = 0, squares = 0;
  for (int i = lane; i < columns; i += kLanes) sum += x[i];
  float mean = sum_of_warp(sum) / columns;
  for (int i = lane; i < columns; i += kLanes) squares += (x[i] - mean) * (x[i] - mean);
  float scale = rsqrtf(sum_of_warp(squares) / columns + kEpsilon);
  for (int i = lane; i < columns; i += kLanes) y[i] = (x[i] - mean) * scale;
}

// Welford: how many, their mean, and the sum of squares around it, from one pass; two such meet by Chan's
// formula.
struct Moments {
  float count = 0, mean = 0, squares = 0;

  __device__ void add(float value) {
    count += 1;
    float distance = value - mean;
    mean += distance / count;
    squares += distance * (value - mean);
  }
  __device__ void add(float other_count, float other_mean, float other_squares) {
    float sum = count + other_count;
    if (sum == 0) return;
    float distance = other_mean - mean;
    squares += other_squares + distance * distance * count * other_count / sum;
    mean += distance * other_count / sum;
    count = sum;
  }
};

__global__ void layer_norm_welford(const float* x, float* y, int rows, int columns) {
  int row = (blockIdx.x * kThreads + threadIdx.x) / kLanes, lane = threadIdx.x % kLanes;
  if (row >= rows) return;
  x += row * columns, y += row * columns;
  Moments moments;
  for (int i = lane; i < columns; i += kLanes) moments.add(x[i]);
  for (int step = kLanes / 2; step > 0; step /= 2) {
    float count = __shfl_xor_sync(0xffffffff, moments.count, step);
    float mean = __shfl_xor_sync(0xffffffff, moments.mean, step);
    float squares = __shfl_xor_sync(0xffffffff, moments.squares, step);
    moments.add(count, mean, squares);
  }
  float scale = rsqrtf(moments.squares / columns + kEpsilon);
  for (int i = lane; i < columns; i += kLanes) y[i] = (x[i] - moments.mean) * scale;
}

int compare(const char* title, const std::vector<float>& x, int rows, int columns, bool with_squares) {
  std::vector<float> expected(x.size());
  double largest = 0;
  for (int row = 0; row < rows; ++row) {
    const float* from = &x[row * columns];
    double mean = 0, variance = 0;
    for (int i = 0; i < columns; ++i) mean += from[i] / double(columns);
    for (int i = 0; i < columns; ++i) variance += (from[i] - mean) * (from[i] - mean) / columns;
    for (int i = 0; i < columns; ++i)
      expected[row * columns + i] = float((from[i] - mean) / std::sqrt(variance + kEpsilon));
    largest = std::max(largest, std::fabs(mean));
  }
  // The mean is rounded by 2^-24 of itself in each of some 8 steps; what is off is divided by deviations
  // above 0.5.
  const double tolerance = (8 * largest + 32) * 0x1p-23;
  const lab::Array<float> device_x(x);
  const int warps = (rows * kLanes + kThreads - 1) / kThreads;
  lab::Table table(title);
  if (with_squares)
    table.row("layer_norm_squares", expected, tolerance,
              [&](float* y) { layer_norm_squares<<<1, kThreads>>>(device_x, y, rows, columns); });
  table.row("layer_norm_two_pass", expected, tolerance,
            [&](float* y) { layer_norm_two_pass<<<warps, kThreads>>>(device_x, y, rows, columns); });
  table.row("layer_norm_welford", expected, tolerance,
            [&](float* y) { layer_norm_welford<<<warps, kThreads>>>(device_x, y, rows, columns); });
  return table.end();
}

// With an argument, the formula of squares meets the large mean, too: it fails there.
int main(int count, char**) {
  const int rows = 32, columns = 300;
  std::vector<float> x = lab::numbers(rows * columns);
  int failed = compare("32 rows of 300 numbers around 0", x, rows, columns, true);
  for (float& value : x) value += 1000;
  failed |= compare("32 rows of 300 numbers around 1000", x, rows, columns, count > 1);
  return failed;
}
