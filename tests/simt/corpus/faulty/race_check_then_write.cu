// What is wrong: between the comparison and the store another thread may have stored a larger value.
#include <cstdio>
#include <vector>

__global__ void largest(const int* x, int* best, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > *best) {  // also: race
    *best = x[i];               // report: race
  }
}

int main() {
  const int n = 500;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = (i * 131) % 499;
  int *x, *best, answer = 0;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&best, sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(best, 0, sizeof(int));
  largest<<<(n + 127) / 128, 128>>>(x, best, n);
  cudaMemcpy(&answer, best, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", answer);
  cudaFree(x);
  cudaFree(best);
}
