// Copies arrive in the background, and a barrier follows them. Is a barrier a wait?
#include <cuda_pipeline.h>

#include "../../lab.h"

constexpr int kThreads = 64;

__global__ void reverse(const float4* x, float4* y) {
  __shared__ __align__(16) float4 tile[kThreads];
  int first = blockIdx.x * kThreads;
  __pipeline_memcpy_async(&tile[threadIdx.x], &x[first + threadIdx.x], sizeof(float4));
  __pipeline_commit();
  __syncthreads();
  y[first + threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
  __pipeline_wait_prior(0);
}

int main() {
  const int groups = 4 * kThreads;
  const std::vector<float> x = lab::numbers(4 * groups);
  std::vector<float> expected(x.size());
  for (int i = 0; i < groups; ++i) {
    int from = i / kThreads * kThreads + kThreads - 1 - i % kThreads;
    for (int j = 0; j < 4; ++j) expected[4 * i + j] = x[4 * from + j];
  }
  const lab::Array<float> device_x(x);
  lab::Table table("groups of four, reversed in each block");
  table.row("reverse", expected, 0, [&](float* y) {
    reverse<<<groups / kThreads, kThreads>>>(reinterpret_cast<const float4*>(device_x.data()),
                                             reinterpret_cast<float4*>(y));
  });
  return table.end();
}
