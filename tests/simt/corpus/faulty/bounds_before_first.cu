// What is wrong: the first thread has no left neighbour and reads the element before the array.
#include <cstdio>
#include <vector>

__global__ void mark_edges(const int* x, int* edges, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    edges[i] = x[i] != x[i - 1];  // report: out-of-bounds
  }
}

int main() {
  const int n = 300;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i / 10;
  int *x, *edges;
  cudaMalloc(&x, n * sizeof(int));  // also: out-of-bounds
  cudaMalloc(&edges, n * sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  mark_edges<<<2, 128>>>(x, edges, n);
  cudaMemcpy(host.data(), edges, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[10]);
  cudaFree(x);
  cudaFree(edges);
}
