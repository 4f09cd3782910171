// What is wrong: each round allocates scratch memory, and only the last round's is freed.
#include <cstdio>

__global__ void fill(float* x, float value) { x[threadIdx.x] = value; }

__global__ void add(float* x, const float* y) { x[threadIdx.x] += y[threadIdx.x]; }

int main() {
  float *sum, *scratch, host[64];
  cudaMalloc(&sum, sizeof(host));
  cudaMemset(sum, 0, sizeof(host));
  for (int round = 0; round < 3; ++round) {
    cudaMalloc(&scratch, sizeof(host));  // report: leak
    fill<<<1, 64>>>(scratch, float(round));
    add<<<1, 64>>>(sum, scratch);
  }
  cudaMemcpy(host, sum, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[0]);
  cudaFree(scratch);
  cudaFree(sum);
}
