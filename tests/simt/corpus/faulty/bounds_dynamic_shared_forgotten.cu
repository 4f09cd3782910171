// What is wrong: the launch forgets the dynamic shared memory that the kernel uses.
#include <cstdio>
#include <vector>

__global__ void block_sums(const float* x, float* sums) {
  extern __shared__ float s[];                                // also: out-of-bounds
  s[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];  // report: out-of-bounds
  __syncthreads();
  for (int offset = blockDim.x / 2; offset > 0; offset /= 2) {
    if (threadIdx.x < offset) s[threadIdx.x] += s[threadIdx.x + offset];  // also: out-of-bounds
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = s[0];  // also: out-of-bounds
}

int main() {
  const int blocks = 2, threads = 64;
  std::vector<float> host(blocks * threads, 1.0f);
  float *x, *sums;
  cudaMalloc(&x, host.size() * sizeof(float));
  cudaMalloc(&sums, blocks * sizeof(float));
  cudaMemcpy(x, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  block_sums<<<blocks, threads>>>(x, sums);  // also: out-of-bounds
  cudaMemcpy(host.data(), sums, blocks * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[0]);
  cudaFree(x);
  cudaFree(sums);
}
