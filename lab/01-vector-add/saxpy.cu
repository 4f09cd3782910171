// y = a·x + y three ways: a thread for each element, a loop over the grid, and four elements at a time.
#include "../lab.h"

__global__ void saxpy_element(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

// Any number of threads covers any n: each takes the elements a whole grid apart.
__global__ void saxpy_grid_stride(float a, const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += a * x[i];
}

// 16 bytes in each access: a quarter of the requests. What is left behind the last group of four takes one
// thread each.
__global__ void saxpy_float4(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, groups = n / 4;
  if (i < groups) {
    float4 from = reinterpret_cast<const float4*>(x)[i], to = reinterpret_cast<float4*>(y)[i];
    to.x += a * from.x, to.y += a * from.y, to.z += a * from.z, to.w += a * from.w;
    reinterpret_cast<float4*>(y)[i] = to;
  } else if (int last = 4 * groups + i - groups; last < n) {
    y[last] += a * x[last];
  }
}

int main(int count, char** words) {
  int n = lab::positive_argument(count, words, 1, 10'003);
  const float a = 2;
  const std::vector<float> x = lab::numbers(n, 1), y = lab::numbers(n, 2);
  std::vector<float> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = a * x[i] + y[i];
  const lab::Array<float> device_x(x);
  const auto prepare = [&](float* result) {  // kernels add to it
    MUST(cudaMemcpy(result, y.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  };

  lab::Table table("y = a x + y");
  const double rounding = 4e-7;  // two roundings, of at most 3 · 2^-24 each
  table.row(
      "saxpy_element", expected, rounding,
      [&](float* result) { saxpy_element<<<(n + 255) / 256, 256>>>(a, device_x, result, n); }, prepare);
  table.row(
      "saxpy_grid_stride", expected, rounding,
      [&](float* result) { saxpy_grid_stride<<<8, 256>>>(a, device_x, result, n); }, prepare);
  table.row(
      "saxpy_float4", expected, rounding,
      [&](float* result) { saxpy_float4<<<(n / 4 + 4 + 255) / 256, 256>>>(a, device_x, result, n); },
      prepare);
  return table.end();
}
