// What is wrong: the barrier stands after the reduction's loop, not in it.
#include <cstdio>
#include <vector>

__global__ void find_max(const float* x, float* result, int n) {
  extern __shared__ float s[];
  float best = -1e30f;
  for (int i = threadIdx.x; i < n; i += blockDim.x) best = fmaxf(best, x[i]);
  s[threadIdx.x] = best;
  __syncthreads();
  for (unsigned offset = blockDim.x / 2; offset > 0; offset /= 2) {
    if (threadIdx.x < offset)
      s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + offset]);  // report: race
  }
  __syncthreads();
  if (threadIdx.x == 0) *result = s[0];
}

int main() {
  const int n = 1000, threads = 256;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = float((i * 37) % 1000);
  float *x, *result, answer = 0;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&result, sizeof(float));
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  find_max<<<1, threads, threads * sizeof(float)>>>(x, result, n);
  cudaMemcpy(&answer, result, sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("max %g\n", answer);
  cudaFree(x);
  cudaFree(result);
}
