// What is wrong: the producer sets the flag only after a full batch, and the data end with a part of one.
#include <cstdio>

__global__ void batches(volatile int* full, int* results, int n) {
  const int batch = 8;
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    for (int i = 0; i < n; ++i) {
      results[i] = i * i;
      __threadfence();
      if (i % batch == batch - 1) full[i / batch] = 1;
    }
  } else {
    int sum = 0;
    for (int b = 0; b < (n + batch - 1) / batch; ++b) {
      while (full[b] == 0) {  // report: deadlock
      }
      __threadfence();
      for (int i = b * batch; i < min(n, (b + 1) * batch); ++i) sum += results[i];
    }
    results[n] = sum;
  }
}

int main() {
  const int n = 20;
  int *full, *results, answer = 0;
  cudaMalloc(&full, n * sizeof(int));
  cudaMalloc(&results, (n + 1) * sizeof(int));
  cudaMemset(full, 0, n * sizeof(int));
  cudaMemset(results, 0, (n + 1) * sizeof(int));
  batches<<<2, 32>>>(full, results, n);
  cudaMemcpy(&answer, results + n, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", answer);
  cudaFree(full);
  cudaFree(results);
}
