// Reverses 64 numbers by way of shared memory, without the barrier that this needs: `treadle simt check`
// finds it.
#include <cstdio>

__global__ void reverse(const int* x, int* y) {
  __shared__ int part[64];
  part[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = part[63 - threadIdx.x];
}

int main() {
  int numbers[64], *x, *y;
  for (int i = 0; i < 64; ++i) numbers[i] = i;
  cudaMalloc(&x, sizeof numbers);
  cudaMalloc(&y, sizeof numbers);
  cudaMemcpy(x, numbers, sizeof numbers, cudaMemcpyHostToDevice);
  reverse<<<1, 64>>>(x, y);
  cudaMemcpy(numbers, y, sizeof numbers, cudaMemcpyDeviceToHost);
  printf("the first is %d\n", numbers[0]);
  cudaFree(x);
  cudaFree(y);
}
