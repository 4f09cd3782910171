// What is wrong: the result is copied back with the direction of the first copy.
#include <cstdio>
#include <vector>

__global__ void twice(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2.0f;
}

int main() {
  const int n = 100;
  std::vector<float> host(n, 1.0f);
  float* x;
  cudaMalloc(&x, n * sizeof(float));  // also: api
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  twice<<<1, 128>>>(x, n);
  cudaMemcpy(host.data(), x, n * sizeof(float), cudaMemcpyHostToDevice);  // report: api
  std::printf("%g\n", host[0]);
  cudaFree(x);
}
