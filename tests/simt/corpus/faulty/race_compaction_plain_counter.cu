// What is wrong: the next free place is read and advanced
// by plain accesses, so that threads get the same place.
#include <cstdio>
#include <vector>

__device__ int next_free;

__global__ void keep_multiples(const int* x, int* kept, int n) {
  const int i = threadIdx.x;
  if (i < n && x[i] % 5 == 0) {
    const int place = next_free;  // report: race
    next_free = place + 1;        // also: race
    kept[place] = x[i];           // also: race
  }
}

int main() {
  const int n = 128;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i;
  int *x, *kept, count = 0;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&kept, n * sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(next_free, &count, sizeof(count));
  keep_multiples<<<1, n>>>(x, kept, n);
  cudaMemcpyFromSymbol(&count, next_free, sizeof(count));
  std::printf("kept %d\n", count);
  cudaFree(x);
  cudaFree(kept);
}
