// Why it is right: a barrier stands between the reading of
// a reduction's result and the next use of its array.
#include <cstdio>
#include <vector>

__device__ float block_sum(float value, float* scratch) {
  scratch[threadIdx.x] = value;
  __syncthreads();
  for (int offset = blockDim.x / 2; offset > 0; offset /= 2) {
    if (threadIdx.x < offset) scratch[threadIdx.x] += scratch[threadIdx.x + offset];
    __syncthreads();
  }
  const float sum = scratch[0];
  __syncthreads();
  return sum;
}

__global__ void centre_and_count(const float* x, float* y, int n) {
  __shared__ float scratch[128];
  const float value = x[blockIdx.x * n + threadIdx.x];
  const float mean = block_sum(value, scratch) / n;
  const float above = block_sum(value > mean ? 1.0f : 0.0f, scratch);
  y[blockIdx.x * n + threadIdx.x] = value - mean + 100.0f * above;
}

int main() {
  const int rows = 3, n = 128;
  std::vector<float> host(rows * n);
  for (int i = 0; i < rows * n; ++i) host[i] = float(i % 2);
  float *x, *y;
  cudaMalloc(&x, host.size() * sizeof(float));
  cudaMalloc(&y, host.size() * sizeof(float));
  cudaMemcpy(x, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  centre_and_count<<<rows, n>>>(x, y, n);
  cudaMemcpy(host.data(), y, host.size() * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[1]);
  cudaFree(x);
  cudaFree(y);
  return host[1] == 6400.5f ? 0 : 1;
}
