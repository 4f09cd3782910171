// What is wrong: a value equal to the upper end of the
// range belongs to no bin, and its index is one too large.
#include <cstdio>
#include <vector>

__global__ void histogram(const float* x, unsigned* bins, int n, float low, float high, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int bin = int((x[i] - low) / (high - low) * count);
  if (bin >= 0) atomicAdd(bins + bin, 1u);  // report: out-of-bounds
}

int main() {
  const int n = 101, count = 10;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = i / 100.0f;
  float* x;
  unsigned *bins, result[count];
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&bins, sizeof(result));  // also: out-of-bounds
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(bins, 0, sizeof(result));
  histogram<<<1, 128>>>(x, bins, n, 0.0f, 1.0f, count);
  cudaMemcpy(result, bins, sizeof(result), cudaMemcpyDeviceToHost);
  std::printf("%u\n", result[count - 1]);
  cudaFree(x);
  cudaFree(bins);
}
