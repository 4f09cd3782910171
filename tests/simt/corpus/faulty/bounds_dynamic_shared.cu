// What is wrong: the launch gives one byte of shared memory per thread, and the kernel keeps an int for each.
#include <cstdio>
#include <vector>

__global__ void reverse(int* x) {
  extern __shared__ int s[];  // also: out-of-bounds
  const int t = threadIdx.x, n = blockDim.x;
  s[t] = x[t];  // report: out-of-bounds
  __syncthreads();
  x[t] = s[n - 1 - t];  // report: out-of-bounds
}

int main() {
  const int n = 128;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i;
  int* x;
  cudaMalloc(&x, n * sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  reverse<<<1, n, n>>>(x);  // also: out-of-bounds
  cudaMemcpy(host.data(), x, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[0]);
  cudaFree(x);
}
