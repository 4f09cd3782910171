// What is wrong: the pinned staging buffer of the host is never given back with cudaFreeHost.
#include <cstdio>

__global__ void increment(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1;
}

int main() {
  const int n = 200;
  int *staging, *x;
  cudaMallocHost(&staging, n * sizeof(int));  // report: leak
  cudaMalloc(&x, n * sizeof(int));
  for (int i = 0; i < n; ++i) staging[i] = i;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMemcpyAsync(x, staging, n * sizeof(int), cudaMemcpyHostToDevice, stream);
  increment<<<2, 128, 0, stream>>>(x, n);
  cudaMemcpyAsync(staging, x, n * sizeof(int), cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  std::printf("%d\n", staging[n - 1]);
  cudaStreamDestroy(stream);
  cudaFree(x);
}
