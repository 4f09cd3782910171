// What is wrong: a step of the scan reads its neighbour
// and writes its own element with no barrier in between.
#include <cstdio>
#include <vector>

__global__ void inclusive_scan(const int* x, int* y) {
  __shared__ int sums[256];
  const int t = threadIdx.x;
  sums[t] = x[t];
  __syncthreads();
  for (int offset = 1; offset < blockDim.x; offset *= 2) {
    const int left = t >= offset ? sums[t - offset] : 0;  // report: race
    // All must have read before anybody writes.
    sums[t] += left;  // also: race
    __syncthreads();
  }
  y[t] = sums[t];
}

int main() {
  const int n = 256;
  std::vector<int> host(n, 1);
  int *x, *y;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&y, n * sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  inclusive_scan<<<1, n>>>(x, y);
  cudaMemcpy(host.data(), y, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("sum %d\n", host[n - 1]);
  cudaFree(x);
  cudaFree(y);
}
