// What is wrong: the loop's trip count depends on the thread,
// so that some meet its barriers once less than others.
#include <cstdio>
#include <vector>

__global__ void block_minimum(const int* x, int* result, int n) {
  __shared__ int minimum;
  if (threadIdx.x == 0) minimum = 1 << 30;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    atomicMin(&minimum, x[i]);
    __syncthreads();  // report: divergent-barrier
  }
  __syncthreads();  // also: divergent-barrier
  if (threadIdx.x == 0) *result = minimum;
}

int main() {
  const int n = 200;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = 1000 - i;
  int *x, *result, answer = 0;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&result, sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(result, 0, sizeof(int));
  block_minimum<<<1, 128>>>(x, result, n);
  cudaMemcpy(&answer, result, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", answer);
  cudaFree(x);
  cudaFree(result);
}
