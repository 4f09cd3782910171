// What is wrong: the counter is read by a plain load while other threads still add to it.
#include <cstdio>
#include <vector>

__global__ void select_large(const int* x, int* selected, int* count, int* reported, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 50) selected[atomicAdd(count, 1)] = x[i];  // also: race
  __syncthreads();
  if (i == 0) *reported = *count;  // report: race
}

int main() {
  const int n = 400;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i % 100;
  int *x, *selected, *count, *reported, answer = 0;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&selected, n * sizeof(int));
  cudaMalloc(&count, sizeof(int));
  cudaMalloc(&reported, sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(count, 0, sizeof(int));
  select_large<<<(n + 127) / 128, 128>>>(x, selected, count, reported, n);
  cudaMemcpy(&answer, reported, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d selected\n", answer);
  cudaFree(x);
  cudaFree(selected);
  cudaFree(count);
  cudaFree(reported);
}
