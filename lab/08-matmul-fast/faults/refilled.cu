// Sums of rows with two buffers that take turns. The next copy is begun as early as can be, or earlier.
#include <cuda_pipeline.h>

#include "../../lab.h"

constexpr int kThreads = 64, kSteps = 8;

__global__ void sums(const float4* x, float* y) {
  __shared__ __align__(16) float4 buffers[2][kThreads];
  auto begin_copy = [&](int step) {
    __pipeline_memcpy_async(&buffers[step % 2][threadIdx.x], &x[step * kThreads + threadIdx.x],
                            sizeof(float4));
    __pipeline_commit();
  };
  begin_copy(0);
  begin_copy(1);
  float sum = 0;
  for (int step = 0; step < kSteps; ++step) {
    if (step + 1 < kSteps)
      __pipeline_wait_prior(1);
    else
      __pipeline_wait_prior(0);
    __syncthreads();
    float4 four = buffers[step % 2][(threadIdx.x + 1) % kThreads];  // what the neighbour has copied
    sum += four.x + four.y + four.z + four.w;
    if (step + 2 < kSteps) begin_copy(step + 2);
  }
  y[threadIdx.x] = sum;
}

int main() {
  const std::vector<float> x = lab::numbers(4 * kThreads * kSteps);
  std::vector<float> expected(kThreads);
  for (int t = 0; t < kThreads; ++t)
    for (int step = 0; step < kSteps; ++step) {
      const float* four = &x[4 * (step * kThreads + (t + 1) % kThreads)];
      expected[t] += four[0] + four[1] + four[2] + four[3];
    }
  const lab::Array<float> device_x(x);
  lab::Table table("64 sums");
  table.row("sums", expected, 1e-5,
            [&](float* y) { sums<<<1, kThreads>>>(reinterpret_cast<const float4*>(device_x.data()), y); });
  return table.end();
}
