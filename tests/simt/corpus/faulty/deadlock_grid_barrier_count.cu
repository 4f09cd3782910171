// What is wrong: the barrier waits for all threads of the grid, but one thread of each block arrives.
#include <cstdio>

__device__ unsigned arrived = 0;

__device__ void grid_barrier() {
  __syncthreads();  // also: deadlock
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&arrived, 1);
    while (atomicAdd(&arrived, 0) < gridDim.x * blockDim.x) {  // report: deadlock
    }
    __threadfence();
  }
  __syncthreads();  // also: deadlock
}

__global__ void two_phases(float* a, float* b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  a[i] = float(i);
  grid_barrier();
  b[i] = a[n - 1 - i];
}

int main() {
  const int n = 128;
  float *a, *b, host[n];
  cudaMalloc(&a, sizeof(host));
  cudaMalloc(&b, sizeof(host));
  cudaMemset(b, 0, sizeof(host));
  two_phases<<<2, 64>>>(a, b);
  cudaMemcpy(host, b, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[0]);
  cudaFree(a);
  cudaFree(b);
}
