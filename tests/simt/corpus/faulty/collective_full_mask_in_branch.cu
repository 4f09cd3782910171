// What is wrong: lanes with negative elements go another way, so
// that the shuffle's full mask names lanes that never come.
#include <cstdio>
#include <vector>

__global__ void sum_positive(const float* x, float* sum, int* negative) {
  const float value = x[threadIdx.x];
  if (value >= 0.0f) {
    float total = value;
    for (int offset = 16; offset > 0; offset >>= 1) {
      total += __shfl_xor_sync(0xffffffffu, total, offset);  // report: divergent-collective
    }
    if (threadIdx.x == 0) *sum = total;
  } else {
    atomicAdd(negative, 1);
  }
}

int main() {
  std::vector<float> host(32);
  for (int i = 0; i < 32; ++i) host[i] = i % 3 == 2 ? -1.0f : 1.0f;
  float *x, *sum, answer = 0;
  int* negative;
  cudaMalloc(&x, 32 * sizeof(float));
  cudaMalloc(&sum, sizeof(float));
  cudaMalloc(&negative, sizeof(int));
  cudaMemcpy(x, host.data(), 32 * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(sum, 0, sizeof(float));
  cudaMemset(negative, 0, sizeof(int));
  sum_positive<<<1, 32>>>(x, sum, negative);
  cudaMemcpy(&answer, sum, sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", answer);
  cudaFree(x);
  cudaFree(sum);
  cudaFree(negative);
}
