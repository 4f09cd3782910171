// What is wrong: the second event is never recorded, so that no time between the two is known.
#include <cstdio>

__global__ void work(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = sinf(x[i]);
}

int main() {
  const int n = 256;
  float *x, milliseconds = 0;
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaMalloc(&x, n * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  cudaEventRecord(begin);
  work<<<2, 128>>>(x, n);
  cudaDeviceSynchronize();
  cudaEventElapsedTime(&milliseconds, begin, end);  // report: api
  std::printf("%g ms\n", milliseconds);
  cudaFree(x);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
}
