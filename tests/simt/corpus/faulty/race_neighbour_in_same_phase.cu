// What is wrong: the difference needs the left neighbour's value, which that thread writes in the same phase.
#include <cstdio>
#include <vector>

__global__ void differences(const float* x, float* y, int n) {
  __shared__ float s[64];  // also: uninitialised
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    s[threadIdx.x] = x[i];  // also: race
    if (threadIdx.x > 0)
      y[i] = s[threadIdx.x] - s[threadIdx.x - 1];  // report: race, also: uninitialised
    else
      y[i] = i > 0 ? s[threadIdx.x] - x[i - 1] : 0.0f;
  }
}

int main() {
  const int n = 200;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = float(i * i);
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  differences<<<(n + 63) / 64, 64>>>(x, y, n);
  cudaMemcpy(host.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[n - 1]);
  cudaFree(x);
  cudaFree(y);
}
