// What is wrong: each thread adds its right neighbour's element, which that one changes at the same time.
#include <cstdio>
#include <vector>

__global__ void add_neighbour(int* a, int n) {
  const int i = threadIdx.x;
  if (i < n - 1) a[i] += a[i + 1];  // report: race
}

int main() {
  const int n = 200;
  std::vector<int> host(n, 1);
  int* a;
  cudaMalloc(&a, n * sizeof(int));
  cudaMemcpy(a, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  add_neighbour<<<1, 224>>>(a, n);
  cudaMemcpy(host.data(), a, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[0]);
  cudaFree(a);
}
