// Why it is right: whole float4s are loaded from aligned places, and the tail element by element.
#include <cstdio>
#include <vector>

__global__ void scale(const float* x, float* y, float factor, int n) {
  const int whole = n / 4, i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < whole) {
    float4 v = reinterpret_cast<const float4*>(x)[i];
    v.x *= factor;
    v.y *= factor;
    v.z *= factor;
    v.w *= factor;
    reinterpret_cast<float4*>(y)[i] = v;
  }
  if (i < n % 4) y[4 * whole + i] = factor * x[4 * whole + i];
}

int main() {
  const int n = 1003;
  std::vector<float> host(n, 2.0f);
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  scale<<<2, 128>>>(x, y, 0.5f, n);
  cudaMemcpy(host.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[n - 1]);
  cudaFree(x);
  cudaFree(y);
  return host[0] == 1.0f && host[999] == 1.0f && host[n - 1] == 1.0f ? 0 : 1;
}
