// What is wrong: the mask is right, but the lane whose value
// is asked for is not in it when n is no multiple of 32.
#include <cstdio>
#include <vector>

__global__ void subtract_last(const int* x, int* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned mask = __ballot_sync(0xffffffff, i < n);
  if (i < n) {
    const int value = x[i];
    y[i] = value - __shfl_sync(mask, value, 31);  // report: divergent-collective
  }
}

int main() {
  const int n = 50;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i;
  int *x, *y;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&y, n * sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(y, 0, n * sizeof(int));
  subtract_last<<<1, 64>>>(x, y, n);
  cudaMemcpy(host.data(), y, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[0]);
  cudaFree(x);
  cudaFree(y);
}
