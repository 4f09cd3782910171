// What is wrong: the scratch memory is freed within the loop that uses it in every round.
#include <cstdio>

__global__ void relax(float* x, float* scratch, int n) {
  const int i = threadIdx.x;
  scratch[i] = 0.5f * (x[i] + x[(i + 1) % n]);  // report: use-after-free
  __syncthreads();
  x[i] = scratch[i];  // also: use-after-free
}

int main() {
  const int n = 96;
  float *x, *scratch, first = 0;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&scratch, n * sizeof(float));  // also: use-after-free
  cudaMemset(x, 0, n * sizeof(float));
  for (int round = 0; round < 3; ++round) {
    relax<<<1, n>>>(x, scratch, n);
    cudaDeviceSynchronize();
    if (round == 0) cudaFree(scratch);  // also: use-after-free
  }
  cudaMemcpy(&first, x, sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", first);
  cudaFree(x);
}
