// What is wrong: rows of 33 floats start at odd places, so that every other row has no aligned float2.
#include <cstdio>
#include <vector>

__global__ void row_norms(const float* x, float* norms, int rows, int width) {
  const int row = threadIdx.x;
  if (row >= rows) return;
  const float2* pairs = reinterpret_cast<const float2*>(x + row * width);
  float sum = 0.0f;
  for (int i = 0; i < width / 2; ++i) {
    const float2 pair = pairs[i];  // report: misaligned
    sum += pair.x * pair.x + pair.y * pair.y;
  }
  if (width % 2 == 1) sum += x[row * width + width - 1] * x[row * width + width - 1];
  norms[row] = sqrtf(sum);
}

int main() {
  const int rows = 20, width = 33;
  std::vector<float> host(rows * width, 1.0f);
  float *x, *norms;
  cudaMalloc(&x, host.size() * sizeof(float));  // also: misaligned
  cudaMalloc(&norms, rows * sizeof(float));
  cudaMemcpy(x, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  row_norms<<<1, 32>>>(x, norms, rows, width);
  cudaMemcpy(host.data(), norms, rows * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[0]);
  cudaFree(x);
  cudaFree(norms);
}
