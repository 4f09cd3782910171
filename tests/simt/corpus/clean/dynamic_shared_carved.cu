// Why it is right: three arrays share the dynamic memory, the
// one of the largest type first, and the launch gives enough.
#include <cstdio>
#include <vector>

__global__ void statistics(const float* x, double* result, int n) {
  extern __shared__ double memory[];
  double* squares = memory;                               // n doubles
  float* values = reinterpret_cast<float*>(squares + n);  // n floats
  char* positive = reinterpret_cast<char*>(values + n);   // n bytes
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    values[i] = x[i];
    squares[i] = double(x[i]) * x[i];
    positive[i] = x[i] > 0.0f;
  }
  __syncthreads();
  if (threadIdx.x < 3) {
    double sum = 0;
    for (int i = 0; i < n; ++i) {
      sum += threadIdx.x == 0 ? squares[i] : threadIdx.x == 1 ? values[i] : positive[i];
    }
    result[threadIdx.x] = sum;
  }
}

int main() {
  const int n = 75;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = i % 2 == 0 ? 2.0f : -1.0f;
  float* x;
  double *result, answer[3] = {};
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&result, sizeof(answer));
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  statistics<<<1, 64, n*(sizeof(double) + sizeof(float) + 1)>>>(x, result, n);
  cudaMemcpy(answer, result, sizeof(answer), cudaMemcpyDeviceToHost);
  std::printf("%g %g %g\n", answer[0], answer[1], answer[2]);
  cudaFree(x);
  cudaFree(result);
  return answer[0] == 189 && answer[1] == 39 && answer[2] == 38 ? 0 : 1;
}
