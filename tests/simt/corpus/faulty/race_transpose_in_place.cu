// What is wrong: each thread moves an element to the place of another that may not have been read yet.
#include <cstdio>
#include <vector>

__global__ void transpose_tile(float* matrix) {
  __shared__ float tile[16][16];
  const int row = threadIdx.y, column = threadIdx.x;
  tile[row][column] = matrix[row * 16 + column];
  __syncthreads();
  const float moved = tile[column][row];  // report: race
  tile[row][column] = moved;              // also: race
  __syncthreads();
  matrix[row * 16 + column] = tile[row][column];
}

int main() {
  std::vector<float> host(256);
  for (int i = 0; i < 256; ++i) host[i] = float(i);
  float* matrix;
  cudaMalloc(&matrix, 256 * sizeof(float));
  cudaMemcpy(matrix, host.data(), 256 * sizeof(float), cudaMemcpyHostToDevice);
  transpose_tile<<<1, dim3(16, 16)>>>(matrix);
  cudaMemcpy(host.data(), matrix, 256 * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[1]);
  cudaFree(matrix);
}
