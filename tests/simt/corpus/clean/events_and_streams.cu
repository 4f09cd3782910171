// Why it is right: the second stream waits for the first one's event before it reads, and the host for both.
#include <cstdio>

__global__ void fill(int* x, int value, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = value + i;
}

__global__ void add(const int* x, int* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i];
}

int main() {
  const int n = 200;
  int *x, *y, *host;
  float milliseconds = -1;
  cudaStream_t first, second;
  cudaEvent_t begin, filled;
  cudaStreamCreate(&first);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaEventCreate(&begin);
  cudaEventCreate(&filled);
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&y, n * sizeof(int));
  cudaMallocHost(&host, n * sizeof(int));
  cudaMemsetAsync(y, 0, n * sizeof(int), second);
  cudaEventRecord(begin, first);
  fill<<<2, 128, 0, first>>>(x, 10, n);
  cudaEventRecord(filled, first);
  cudaStreamWaitEvent(second, filled, 0);
  add<<<2, 128, 0, second>>>(x, y, n);
  cudaMemcpyAsync(host, y, n * sizeof(int), cudaMemcpyDeviceToHost, second);
  while (cudaStreamQuery(second) == cudaErrorNotReady) {
  }
  cudaEventSynchronize(filled);
  cudaEventElapsedTime(&milliseconds, begin, filled);
  const bool right = host[n - 1] == n + 9 && milliseconds >= 0;
  std::printf("%d\n", host[n - 1]);
  cudaFree(x);
  cudaFree(y);
  cudaFreeHost(host);
  cudaEventDestroy(begin);
  cudaEventDestroy(filled);
  cudaStreamDestroy(first);
  cudaStreamDestroy(second);
  return right ? 0 : 1;
}
