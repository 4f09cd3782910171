// c = a + b with a planted fault on the side of the host.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main(int count, char** words) {
  int n = count > 1 ? atoi(words[1]) : 1000;
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) a[i] = i, b[i] = 2 * i;

  // Memory of the device: kernels see no other.
  size_t bytes = n * sizeof(float);
  float *device_a, *device_b, *device_c;
  cudaMalloc(&device_a, bytes);
  cudaMalloc(&device_b, bytes);
  cudaMalloc(&device_c, n);
  cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice);

  // As many blocks of 256 threads as cover n elements; the last one is not full.
  int threads = 256, blocks = (n + threads - 1) / threads;
  add<<<blocks, threads>>>(device_a, device_b, device_c, n);
  if (cudaError_t error = cudaGetLastError()) {
    printf("the launch failed: %s\n", cudaGetErrorString(error));
    return 1;
  }

  // The copy waits for the kernel.
  cudaMemcpy(c.data(), device_c, bytes, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += c[i] != 3.f * i;
  printf("%d elements, %d blocks of %d threads, %d wrong\n", n, blocks, threads, wrong);

  cudaFree(device_a);
  cudaFree(device_b);
  cudaFree(device_c);
  return wrong > 0;
}
