// Why it is right: threads of different blocks speak to each other by atomics on the same words alone.
#include <cstdio>
#include <vector>

__global__ void count_distinct(const int* x, int* table, int size, int* distinct, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int slot = x[i] % size;; slot = (slot + 1) % size) {
    const int found = atomicCAS(&table[slot], -1, x[i]);
    if (found == -1) atomicAdd(distinct, 1);
    if (found == -1 || found == x[i]) return;
  }
}

int main() {
  const int n = 300, size = 64;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i * i % 97;
  int *x, *table, *distinct, answer = 0;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&table, size * sizeof(int));
  cudaMalloc(&distinct, sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(table, 0xff, size * sizeof(int));
  cudaMemset(distinct, 0, sizeof(int));
  count_distinct<<<3, 128>>>(x, table, size, distinct, n);
  cudaMemcpy(&answer, distinct, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", answer);
  cudaFree(x);
  cudaFree(table);
  cudaFree(distinct);
  return answer == 49 ? 0 : 1;
}
