// Why it is right: the loop's condition guards the end,
// and each element belongs to one thread in both kernels.
#include <cstdio>
#include <vector>

__global__ void saxpy(float a, const float* __restrict__ x, float* __restrict__ y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += a * x[i];
}

template <class T>
__global__ void __launch_bounds__(128) clamp_to(T* y, T low, T high, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    y[i] = y[i] < low ? low : y[i] > high ? high : y[i];
  }
}

int main() {
  const int n = 1001;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = float(i);
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(y, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  saxpy<<<3, 128>>>(2.0f, x, y, n);
  clamp_to<<<2, 128>>>(y, 30.0f, 600.0f, n);
  cudaMemcpy(host.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g %g %g\n", host[0], host[100], host[n - 1]);
  cudaFree(x);
  cudaFree(y);
  return host[0] == 30.0f && host[100] == 300.0f && host[n - 1] == 600.0f ? 0 : 1;
}
