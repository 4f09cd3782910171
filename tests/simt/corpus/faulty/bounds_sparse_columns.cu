// What is wrong: the columns of the sparse matrix count from
// one, as in its file, and the last is past the vector's end.
#include <cstdio>

__global__ void multiply(const int* starts, const int* columns, const float* values, const float* x, float* y,
                         int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int k = starts[row]; k < starts[row + 1]; ++k) {
    sum += values[k] * x[columns[k]];  // report: out-of-bounds
  }
  y[row] = sum;
}

template <class T, size_t N>
T* on_device(const T (&host)[N]) {
  T* device;
  cudaMalloc(&device, sizeof(host));  // also: out-of-bounds
  cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice);
  return device;
}

int main() {
  const int starts[] = {0, 2, 3, 4}, columns[] = {1, 3, 2, 3};
  const float values[] = {1, 2, 3, 4}, ones[] = {1, 1, 1};
  int *s = on_device(starts), *c = on_device(columns);
  float *v = on_device(values), *x = on_device(ones), *y = on_device(ones), host[3];
  multiply<<<1, 32>>>(s, c, v, x, y, 3);
  cudaMemcpy(host, y, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%g %g %g\n", host[0], host[1], host[2]);
  cudaFree(s);
  cudaFree(c);
  cudaFree(v);
  cudaFree(x);
  cudaFree(y);
}
