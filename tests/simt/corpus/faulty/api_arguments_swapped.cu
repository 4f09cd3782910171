// What is wrong: destination and source of the copy are swapped.
#include <cstdio>
#include <vector>

__global__ void sum(const int* x, int* result, int n) {
  int total = 0;
  for (int i = threadIdx.x; i < n; i += 32) total += x[i];
  atomicAdd(result, total);
}

int main() {
  const int n = 100;
  std::vector<int> host(n, 1);
  int *x, *result, answer = 0;
  cudaMalloc(&x, n * sizeof(int));  // also: api
  cudaMalloc(&result, sizeof(int));
  cudaMemset(x, 0, n * sizeof(int));
  cudaMemset(result, 0, sizeof(int));
  cudaMemcpy(host.data(), x, n * sizeof(int), cudaMemcpyHostToDevice);  // report: api
  sum<<<1, 32>>>(x, result, n);
  cudaMemcpy(&answer, result, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", answer);
  cudaFree(x);
  cudaFree(result);
}
