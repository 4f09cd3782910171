// What is wrong: threads past the end load nothing, but the tree adds their places, too.
#include <cstdio>
#include <vector>

__global__ void sum(const float* x, float* result, int n) {
  __shared__ float s[128];  // also: uninitialised
  const int t = threadIdx.x;
  if (t < n) s[t] = x[t];
  __syncthreads();
  for (int offset = 64; offset > 0; offset /= 2) {
    if (t < offset) s[t] += s[t + offset];  // report: uninitialised
    __syncthreads();
  }
  if (t == 0) *result = s[0];
}

int main() {
  const int n = 100;
  std::vector<float> host(n, 1.0f);
  float *x, *result, answer = 0;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&result, sizeof(float));
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  sum<<<1, 128>>>(x, result, n);
  cudaMemcpy(&answer, result, sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", answer);
  cudaFree(x);
  cudaFree(result);
}
