// What is wrong: the helper stores one more element than the
// array behind its pointer has, right into its neighbour.
#include <cstdio>

__device__ void load_row(float* row, const float* x, int n) {
  for (int i = threadIdx.x; i <= n; i += blockDim.x) row[i] = x[i];  // report: out-of-bounds
}

__global__ void weighted_sum(const float* x, const float* w, float* y, int n) {
  __shared__ float values[64];   // also: out-of-bounds
  __shared__ float weights[64];  // also: out-of-bounds
  load_row(values, x, n);
  __syncthreads();
  load_row(weights, w, n);
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0.0f;
    for (int i = 0; i < n; ++i) sum += values[i] * weights[i];
    *y = sum;
  }
}

int main() {
  float host[65], *x, *w, *y;
  for (float& v : host) v = 1.0f;
  cudaMalloc(&x, sizeof(host));
  cudaMalloc(&w, sizeof(host));
  cudaMalloc(&y, sizeof(float));
  cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
  cudaMemcpy(w, host, sizeof(host), cudaMemcpyHostToDevice);
  weighted_sum<<<1, 32>>>(x, w, y, 64);
  cudaMemcpy(host, y, sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[0]);
  cudaFree(x);
  cudaFree(w);
  cudaFree(y);
}
