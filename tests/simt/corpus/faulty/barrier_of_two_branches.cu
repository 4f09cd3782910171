// What is wrong: the two halves of the block wait at two different barriers, as if they were one.
#include <cstdio>
#include <vector>

__global__ void combine(const float* a, const float* b, float* y) {
  __shared__ float s[128];
  const int t = threadIdx.x;
  if (t < 64) {
    s[t] = a[t] * a[t];
    __syncthreads();  // report: divergent-barrier
  } else {
    s[t] = sqrtf(b[t - 64]);
    __syncthreads();  // also: divergent-barrier
  }
  if (t < 64) y[t] = s[t] + s[t + 64];
}

int main() {
  std::vector<float> host(64, 4.0f);
  float *a, *b, *y;
  cudaMalloc(&a, 64 * sizeof(float));
  cudaMalloc(&b, 64 * sizeof(float));
  cudaMalloc(&y, 64 * sizeof(float));
  cudaMemcpy(a, host.data(), 64 * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(b, host.data(), 64 * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(y, 0, 64 * sizeof(float));
  combine<<<1, 128>>>(a, b, y);
  cudaMemcpy(host.data(), y, 64 * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[0]);
  cudaFree(a);
  cudaFree(b);
  cudaFree(y);
}
