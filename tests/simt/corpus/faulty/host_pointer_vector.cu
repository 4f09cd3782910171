// What is wrong: the kernel is called with the vector's data instead of its copy on the device.
#include <cstdio>
#include <vector>

__global__ void shift(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 10;  // report: host-pointer
}

int main() {
  std::vector<int> x(200, 1);
  int* device_x;
  const size_t bytes = x.size() * sizeof(int);
  cudaMalloc(&device_x, bytes);
  cudaMemcpy(device_x, x.data(), bytes, cudaMemcpyHostToDevice);
  shift<<<2, 128>>>(x.data(), int(x.size()));  // also: host-pointer
  cudaMemcpy(x.data(), device_x, bytes, cudaMemcpyDeviceToHost);
  std::printf("%d\n", x[0]);
  cudaFree(device_x);
}
