// What is wrong: threads past the end return before the barrier that the others wait at.
#include <cstdio>
#include <vector>

__global__ void block_sums(const float* x, float* sums, int n) {
  __shared__ float s[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;  // also: divergent-barrier
  s[threadIdx.x] = x[i];
  __syncthreads();  // report: divergent-barrier
  if (threadIdx.x == 0) {
    float sum = 0.0f;
    for (int j = 0; j < blockDim.x && i + j < n; ++j) sum += s[j];
    sums[blockIdx.x] = sum;
  }
}

int main() {
  const int n = 300, blocks = (n + 127) / 128;
  std::vector<float> host(n, 1.0f);
  float *x, *sums;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&sums, blocks * sizeof(float));
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(sums, 0, blocks * sizeof(float));
  block_sums<<<blocks, 128>>>(x, sums, n);
  cudaMemcpy(host.data(), sums, blocks * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[blocks - 1]);
  cudaFree(x);
  cudaFree(sums);
}
