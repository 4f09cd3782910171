// Why it is right: all lanes of all warps take part in each shuffle, those past the end with a zero.
#include <cstdio>
#include <vector>

__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  return value;
}

__global__ void sum(const float* x, float* total, int n) {
  __shared__ float warps[32];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float value = warp_sum(i < n ? x[i] : 0.0f);
  if (lane == 0) warps[warp] = value;
  __syncthreads();
  if (warp == 0) {
    value = warp_sum(lane < blockDim.x / 32 ? warps[lane] : 0.0f);
    if (lane == 0) atomicAdd(total, value);
  }
}

int main() {
  const int n = 1000;
  std::vector<float> host(n, 1.0f);
  float *x, *total, answer = 0;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&total, sizeof(float));
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(total, 0, sizeof(float));
  sum<<<4, 256>>>(x, total, n);
  cudaMemcpy(&answer, total, sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", answer);
  cudaFree(x);
  cudaFree(total);
  return answer == 1000.0f ? 0 : 1;
}
