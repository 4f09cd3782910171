// What is wrong: the first thread of each block adds its
// block's sum to the total with +=, not with atomicAdd.
#include <cstdio>
#include <vector>

__global__ void dot(const float* a, const float* b, float* total, int n) {
  __shared__ float products[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  products[threadIdx.x] = i < n ? a[i] * b[i] : 0.0f;
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0.0f;
    for (int j = 0; j < blockDim.x; ++j) sum += products[j];
    *total += sum;  // report: race
  }
}

int main() {
  const int n = 1000;
  std::vector<float> host(n, 1.0f);
  float *a, *b, *total, answer = 0;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  cudaMalloc(&total, sizeof(float));
  cudaMemcpy(a, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(b, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(total, 0, sizeof(float));
  dot<<<(n + 127) / 128, 128>>>(a, b, total, n);
  cudaMemcpy(&answer, total, sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", answer);
  cudaFree(a);
  cudaFree(b);
  cudaFree(total);
}
