// Why it is right: all threads that write the flag write the
// same value, and only later launches and the host read it.
#include <cstdio>
#include <vector>

__global__ void contains(const int* x, int wanted, int* found, int n) {
  __shared__ bool in_block;
  if (threadIdx.x == 0) in_block = false;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] == wanted) in_block = true;
  __syncthreads();
  if (in_block) *found = 1;
}

int main() {
  const int n = 300;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i % 50;
  int *x, *found, answer = 0;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&found, sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(found, 0, sizeof(int));
  contains<<<3, 128>>>(x, 30, found, n);
  cudaMemcpy(&answer, found, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", answer);
  cudaFree(x);
  cudaFree(found);
  return answer == 1 ? 0 : 1;
}
