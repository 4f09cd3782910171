// What is wrong: instead of swapping the two buffers, each
// round loses the pointer to one and allocates another.
#include <cstdio>

__global__ void step(const float* from, float* to) {
  const int i = threadIdx.x;
  to[i] = 0.5f * from[i] + 0.5f * from[(i + 1) % 64];
}

int main() {
  float *now, *next, host[64] = {1.0f};
  cudaMalloc(&now, sizeof(host));   // report: leak
  cudaMalloc(&next, sizeof(host));  // report: leak
  cudaMemcpy(now, host, sizeof(host), cudaMemcpyHostToDevice);
  for (int i = 0; i < 3; ++i) {
    step<<<1, 64>>>(now, next);
    now = next;                       // std::swap(now, next) was meant, and no allocation.
    cudaMalloc(&next, sizeof(host));  // report: leak
  }
  cudaMemcpy(host, now, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[0]);
  cudaFree(now);
  cudaFree(next);
}
