// What is wrong: only the left edge of the signal is guarded;
// the last block loads its right halo from past the end.
#include <cstdio>
#include <vector>

constexpr int kBlock = 64, kRadius = 2;

__global__ void blur(const float* x, float* y) {
  __shared__ float s[kBlock + 2 * kRadius];
  const int i = blockIdx.x * kBlock + threadIdx.x, t = threadIdx.x + kRadius;
  s[t] = x[i];
  if (threadIdx.x < kRadius) {
    s[t - kRadius] = i >= kRadius ? x[i - kRadius] : 0.0f;
    s[t + kBlock] = x[i + kBlock];  // report: out-of-bounds
  }
  __syncthreads();
  float sum = 0.0f;
  for (int j = -kRadius; j <= kRadius; ++j) sum += s[t + j];
  y[i] = sum / (2 * kRadius + 1);
}

int main() {
  const int n = 4 * kBlock;
  std::vector<float> host(n, 1.0f);
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));  // also: out-of-bounds
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  blur<<<n / kBlock, kBlock>>>(x, y);
  cudaMemcpy(host.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[n / 2]);
  cudaFree(x);
  cudaFree(y);
}
