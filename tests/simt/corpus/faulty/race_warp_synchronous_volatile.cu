// What is wrong: volatile keeps the sums in memory, but does not keep the lanes of a warp in step.
#include <cstdio>
#include <vector>

template <int kBlock>
__device__ void warp_reduce(volatile float* s, int t) {
  if (kBlock >= 64) s[t] += s[t + 32];  // also: race
  if (kBlock >= 32) s[t] += s[t + 16];  // report: race
  if (kBlock >= 16) s[t] += s[t + 8];   // also: race
  if (kBlock >= 8) s[t] += s[t + 4];    // also: race
  if (kBlock >= 4) s[t] += s[t + 2];    // also: race
  if (kBlock >= 2) s[t] += s[t + 1];    // also: race
}

template <int kBlock>
__global__ void reduce(const float* x, float* sums) {
  __shared__ float s[kBlock];
  const int t = threadIdx.x;
  s[t] = x[blockIdx.x * kBlock + t];
  __syncthreads();
  for (int offset = kBlock / 2; offset > 32; offset >>= 1) {
    if (t < offset) s[t] += s[t + offset];
    __syncthreads();
  }
  if (t < 32) warp_reduce<kBlock>(s, t);
  if (t == 0) sums[blockIdx.x] = s[0];
}

int main() {
  std::vector<float> host(256, 1.0f);
  float *x, *sums;
  cudaMalloc(&x, 256 * sizeof(float));
  cudaMalloc(&sums, 2 * sizeof(float));
  cudaMemcpy(x, host.data(), 256 * sizeof(float), cudaMemcpyHostToDevice);
  reduce<128><<<2, 128>>>(x, sums);
  cudaMemcpy(host.data(), sums, 2 * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g %g\n", host[0], host[1]);
  cudaFree(x);
  cudaFree(sums);
}
