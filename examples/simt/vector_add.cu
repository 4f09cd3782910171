// c = a + b, as every introduction to CUDA begins: `treadle simt run examples/simt/vector_add.cu -- 1000000`
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main(int count, char** words) {
  int n = count > 1 ? atoi(words[1]) : 1000;
  std::vector<float> a(n, 1), b(n, 2), c(n);
  float *device_a, *device_b, *device_c;
  cudaMalloc(&device_a, n * sizeof(float));
  cudaMalloc(&device_b, n * sizeof(float));
  cudaMalloc(&device_c, n * sizeof(float));
  cudaMemcpy(device_a, a.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(device_b, b.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  add<<<(n + 255) / 256, 256>>>(device_a, device_b, device_c, n);
  cudaMemcpy(c.data(), device_c, n * sizeof(float), cudaMemcpyDeviceToHost);
  for (float sum : c)
    if (sum != 3) return 1;
  printf("%d sums are right\n", n);
  cudaFree(device_a), cudaFree(device_b), cudaFree(device_c);
}
