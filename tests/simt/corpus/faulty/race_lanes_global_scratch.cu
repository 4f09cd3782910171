// What is wrong: each lane reads the next lane's result from global memory right after its own store.
#include <cstdio>

__global__ void gaps(const float* x, float* scratch, float* y) {
  const int lane = threadIdx.x;
  scratch[lane] = sqrtf(x[lane]);                              // also: race
  if (lane < 31) y[lane] = scratch[lane + 1] - scratch[lane];  // report: race, also: uninitialised
}

int main() {
  float host[32], *x, *scratch, *y;
  for (int i = 0; i < 32; ++i) host[i] = float(i * i);
  cudaMalloc(&x, sizeof(host));
  cudaMalloc(&scratch, sizeof(host));  // also: uninitialised
  cudaMalloc(&y, sizeof(host));
  cudaMemset(y, 0, sizeof(host));
  cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
  gaps<<<1, 32>>>(x, scratch, y);
  cudaMemcpy(host, y, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[0]);
  cudaFree(x);
  cudaFree(scratch);
  cudaFree(y);
}
