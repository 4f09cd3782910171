// What is wrong: with its only barrier before the use, a
// fast warp refills the buffer that a slow warp still reads.
#include <cstdio>
#include <vector>

constexpr int kThreads = 128;

__global__ void correlate(const float* x, float* y, int tiles) {
  __shared__ float buffer[2][kThreads];
  const int t = threadIdx.x;
  float sum = 0.0f;
  buffer[0][t] = x[t];
  for (int tile = 0; tile < tiles; ++tile) {
    const int now = tile & 1;
    if (tile + 1 < tiles) buffer[1 - now][t] = x[(tile + 1) * kThreads + t];  // also: race
    __syncthreads();
    sum += buffer[now][t] * buffer[now][(t + 32) % kThreads];  // report: race
  }
  y[t] = sum;
}

int main() {
  const int tiles = 4;
  std::vector<float> host(tiles * kThreads);
  for (int i = 0; i < tiles * kThreads; ++i) host[i] = float(i % 100);
  float *x, *y;
  cudaMalloc(&x, host.size() * sizeof(float));
  cudaMalloc(&y, kThreads * sizeof(float));
  cudaMemcpy(x, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  correlate<<<1, kThreads>>>(x, y, tiles);
  cudaMemcpy(host.data(), y, kThreads * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[0]);
  cudaFree(x);
  cudaFree(y);
}
