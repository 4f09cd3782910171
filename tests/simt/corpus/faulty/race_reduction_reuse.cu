// What is wrong: the second reduction fills the array while
// slower warps still read the first one's result from it.
#include <cstdio>
#include <vector>

__device__ float block_sum(float value, float* scratch) {
  scratch[threadIdx.x] = value;  // also: race
  __syncthreads();
  for (int offset = blockDim.x / 2; offset > 0; offset /= 2) {
    if (threadIdx.x < offset) scratch[threadIdx.x] += scratch[threadIdx.x + offset];
    __syncthreads();
  }
  return scratch[0];  // report: race
}

__global__ void normalise(const float* x, float* y, int n) {
  __shared__ float scratch[256];
  const float value = x[blockIdx.x * n + threadIdx.x];
  const float mean = block_sum(value, scratch) / n;
  const float centred = value - mean;
  const float variance = block_sum(centred * centred, scratch) / n;
  y[blockIdx.x * n + threadIdx.x] = centred * rsqrtf(variance + 1e-5f);
}

int main() {
  const int rows = 4, n = 256;
  std::vector<float> host(rows * n);
  for (int i = 0; i < rows * n; ++i) host[i] = float(i % 7);
  float *x, *y;
  cudaMalloc(&x, host.size() * sizeof(float));
  cudaMalloc(&y, host.size() * sizeof(float));
  cudaMemcpy(x, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  normalise<<<rows, n>>>(x, y, n);
  cudaMemcpy(host.data(), y, host.size() * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%f\n", host[0]);
  cudaFree(x);
  cudaFree(y);
}
