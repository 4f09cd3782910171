// What is wrong: one thread computes the row's scale in shared
// memory, and the others use it without waiting for it.
#include <cstdio>
#include <vector>

__global__ void scale_rows(float* rows, const float* weights, int width) {
  __shared__ float scale;  // also: uninitialised
  if (threadIdx.x == 0) {
    scale = 1.0f / weights[blockIdx.x];  // also: race
  }
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    rows[blockIdx.x * width + i] *= scale;  // report: race, also: uninitialised
  }
}

int main() {
  const int rows = 3, width = 100;
  std::vector<float> host(rows * width, 8.0f), weights = {1.0f, 2.0f, 4.0f};
  float *x, *w;
  cudaMalloc(&x, host.size() * sizeof(float));
  cudaMalloc(&w, rows * sizeof(float));
  cudaMemcpy(x, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(w, weights.data(), rows * sizeof(float), cudaMemcpyHostToDevice);
  scale_rows<<<rows, 64>>>(x, w, width);
  cudaMemcpy(host.data(), x, host.size() * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[2 * width]);
  cudaFree(x);
  cudaFree(w);
}
