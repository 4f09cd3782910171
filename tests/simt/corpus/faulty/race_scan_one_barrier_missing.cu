// What is wrong: the barrier at the end of a scan's step is
// missing, so that the next step reads what may not be written.
#include <cstdio>
#include <vector>

__global__ void exclusive_offsets(const int* counts, int* offsets, int n) {
  __shared__ int sums[128];
  const int t = threadIdx.x;
  sums[t] = t < n ? counts[t] : 0;
  __syncthreads();
  for (int offset = 1; offset < 128; offset <<= 1) {
    int left = 0;
    if (t >= offset) left = sums[t - offset];  // report: race
    __syncthreads();
    sums[t] += left;  // also: race
  }
  if (t < n) offsets[t] = sums[t] - counts[t];
}

int main() {
  const int n = 100;
  std::vector<int> host(n, 3);
  int *counts, *offsets;
  cudaMalloc(&counts, n * sizeof(int));
  cudaMalloc(&offsets, n * sizeof(int));
  cudaMemcpy(counts, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  exclusive_offsets<<<1, 128>>>(counts, offsets, n);
  cudaMemcpy(host.data(), offsets, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("last offset %d\n", host[n - 1]);
  cudaFree(counts);
  cudaFree(offsets);
}
