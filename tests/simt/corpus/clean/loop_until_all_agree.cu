// Why it is right: __syncthreads_or() gives all threads one
// answer, so that all leave the loop in the same round.
#include <cstdio>
#include <vector>

__global__ void connected_labels(const int* next, int* labels) {
  __shared__ int label[128];
  const int v = threadIdx.x;
  label[v] = v;
  int changed;
  do {
    __syncthreads();
    const int other = label[next[v]];
    __syncthreads();
    changed = other < label[v];
    if (changed) label[v] = other;
  } while (__syncthreads_or(changed));
  labels[v] = label[v];
}

int main() {
  const int n = 128, ring = 16;
  std::vector<int> host(n);
  for (int v = 0; v < n; ++v) host[v] = v / ring * ring + (v + 1) % ring;
  int *next, *labels;
  cudaMalloc(&next, n * sizeof(int));
  cudaMalloc(&labels, n * sizeof(int));
  cudaMemcpy(next, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  connected_labels<<<1, n>>>(next, labels);
  cudaMemcpy(host.data(), labels, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", host[5], host[100]);
  cudaFree(next);
  cudaFree(labels);
  return host[5] == 0 && host[100] == 96 ? 0 : 1;
}
