// What is wrong: a thread that has found its own solution
// breaks out of the loop, past the barriers of the others.
#include <cstdio>
#include <vector>

__global__ void square_roots(const float* x, float* y, int steps) {
  __shared__ int unfinished;
  float guess = x[threadIdx.x];
  for (int step = 0; step < steps; ++step) {
    if (threadIdx.x == 0) unfinished = 0;
    __syncthreads();  // report: divergent-barrier
    const float better = 0.5f * (guess + x[threadIdx.x] / guess);
    const bool close = fabsf(better - guess) < 1e-4f;
    guess = better;
    if (close) break;
    atomicAdd(&unfinished, 1);
    __syncthreads();  // report: divergent-barrier
  }
  y[threadIdx.x] = guess;
}

int main() {
  std::vector<float> host(64);
  for (int i = 0; i < 64; ++i) host[i] = 1.0f + i;
  float *x, *y;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMalloc(&y, 64 * sizeof(float));
  cudaMemcpy(x, host.data(), 64 * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(y, 0, 64 * sizeof(float));
  square_roots<<<1, 64>>>(x, y, 20);
  cudaMemcpy(host.data(), y, 64 * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[3]);
  cudaFree(x);
  cudaFree(y);
}
