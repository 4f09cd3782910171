// Why it is right: a barrier lies between what threads write and the reads of others; half is a class with
// constructors.
#include <cuda_fp16.h>

#include <cstdio>

template <typename T>
__global__ void sums(const T* x, T* result) {
  __shared__ T first[64], second[64];
  const int i = threadIdx.x;
  first[i] = x[i];
  second[i] = first[i] + first[i];
  __syncthreads();
  if (i > 0) return;
  T sum = 0;
  for (int k = 0; k < 64; ++k) sum += second[k];
  result[blockIdx.x] = sum;
}

int main() {
  half values[64], found[3];
  for (half& value : values) value = 0.5f;
  half *x, *y;
  cudaMalloc(&x, sizeof values);
  cudaMalloc(&y, sizeof found);
  cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
  sums<<<3, 64>>>(x, y);
  cudaMemcpy(found, y, sizeof found, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
  for (half sum : found)
    if (float(sum) != 64) return 1;
  std::printf("three sums are right\n");
  return 0;
}
