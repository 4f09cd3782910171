// What is wrong: cudaMemset counts bytes, so that only the first quarter of the bins is zero.
#include <cstdio>
#include <vector>

__global__ void vote(const int* classes, int* votes, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&votes[classes[i]], 1);  // report: uninitialised
}

int main() {
  const int n = 200, classes = 32;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i % classes;
  int *x, *votes;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&votes, classes * sizeof(int));  // also: uninitialised
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(votes, 0, classes);
  vote<<<2, 128>>>(x, votes, n);
  cudaMemcpy(host.data(), votes, classes * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[classes - 1]);
  cudaFree(x);
  cudaFree(votes);
}
