// What is wrong: the doubles are carved out of shared memory behind an odd number of floats.
#include <cstdio>
#include <vector>

__global__ void mean_and_variance(const float* x, double* result, int n) {
  extern __shared__ char memory[];                              // also: misaligned
  float* values = reinterpret_cast<float*>(memory);             // n floats
  double* squares = reinterpret_cast<double*>(memory + 4 * n);  // n doubles
  const int t = threadIdx.x;
  if (t < n) {
    values[t] = x[t];
    squares[t] = double(x[t]) * x[t];  // report: misaligned
  }
  __syncthreads();
  if (t == 0) {
    double sum = 0, sum_of_squares = 0;
    for (int i = 0; i < n; ++i) sum += values[i];
    for (int i = 0; i < n; ++i) sum_of_squares += squares[i];  // also: misaligned
    result[0] = sum / n;
    result[1] = sum_of_squares / n - result[0] * result[0];
  }
}

int main() {
  const int n = 33;
  std::vector<float> host(n, 2.0f);
  float* x;
  double *result, answer[2] = {};
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&result, sizeof(answer));
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  mean_and_variance<<<1, 64, n*(sizeof(float) + sizeof(double))>>>(x, result, n);  // also: misaligned
  cudaMemcpy(answer, result, sizeof(answer), cudaMemcpyDeviceToHost);
  std::printf("%g %g\n", answer[0], answer[1]);
  cudaFree(x);
  cudaFree(result);
}
