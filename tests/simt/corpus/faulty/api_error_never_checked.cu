// What is wrong: the allocation fails for its size, nobody looks at the error, and the null pointer is used.
#include <cstdio>

__global__ void fill(float* grid, size_t n) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) grid[i] = 1.0f;  // also: host-pointer, also: fault
}

int main() {
  const size_t side = 40000, n = side * side * side;
  float *grid = nullptr, host[4] = {};
  cudaMalloc(&grid, n * sizeof(float));  // report: api
  fill<<<2, 128>>>(grid, n);
  if (cudaMemcpy(host, grid, sizeof(host), cudaMemcpyDeviceToHost) == cudaSuccess) {  // also: api
    std::printf("%g\n", host[0]);
  }
  cudaFree(grid);
}
