// What is wrong: the lock's atomics do not order the accesses
// to what it protects; fences are missing at both ends.
#include <cstdio>

struct Statistics {
  int count;
  float sum;
};

__device__ int lock = 0;

__global__ void accumulate(Statistics* statistics, const float* x, int n) {
  if (threadIdx.x != 0) return;
  float sum = 0.0f;
  for (int i = blockIdx.x; i < n; i += gridDim.x) sum += x[i];
  while (atomicCAS(&lock, 0, 1) != 0) {
  }
  statistics->count += 1;  // report: race
  statistics->sum += sum;  // also: race
  atomicExch(&lock, 0);
}

int main() {
  float host[64], *x;
  for (int i = 0; i < 64; ++i) host[i] = 0.5f;
  Statistics* statistics;
  Statistics answer;
  cudaMalloc(&x, sizeof(host));
  cudaMalloc(&statistics, sizeof(Statistics));
  cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
  cudaMemset(statistics, 0, sizeof(Statistics));
  accumulate<<<4, 32>>>(statistics, x, 64);
  cudaMemcpy(&answer, statistics, sizeof(answer), cudaMemcpyDeviceToHost);
  std::printf("%d blocks, sum %g\n", answer.count, answer.sum);
  cudaFree(x);
  cudaFree(statistics);
}
