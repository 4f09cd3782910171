// What is wrong: n is no multiple of four, and the last float4 reaches past the end of both arrays.
#include <cstdio>
#include <vector>

__global__ void scale(const float4* x, float4* y, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * i < n) {
    float4 v = x[i];  // report: out-of-bounds
    v.x *= factor;
    v.y *= factor;
    v.z *= factor;
    v.w *= factor;
    y[i] = v;  // report: out-of-bounds
  }
}

int main() {
  const int n = 1002;
  std::vector<float> host(n, 2.0f);
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));  // also: out-of-bounds
  cudaMalloc(&y, n * sizeof(float));  // also: out-of-bounds
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  scale<<<2, 128>>>(reinterpret_cast<const float4*>(x), reinterpret_cast<float4*>(y), 0.5f, n);
  cudaMemcpy(host.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[n - 1]);
  cudaFree(x);
  cudaFree(y);
}
