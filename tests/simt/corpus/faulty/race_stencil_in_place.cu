// What is wrong: the smoothing overwrites its input, which neighbours read in the same step.
#include <cstdio>
#include <vector>

__global__ void smooth(float* signal, int steps) {
  __shared__ float s[128 + 2];
  const int i = threadIdx.x + 1;
  s[i] = signal[threadIdx.x];
  if (threadIdx.x == 0) s[0] = s[129] = 0.0f;
  __syncthreads();
  for (int step = 0; step < steps; ++step) {
    s[i] = 0.25f * s[i - 1] + 0.5f * s[i] + 0.25f * s[i + 1];  // report: race
    __syncthreads();
  }
  signal[threadIdx.x] = s[i];
}

int main() {
  std::vector<float> host(128, 0.0f);
  host[64] = 1.0f;
  float* signal;
  cudaMalloc(&signal, 128 * sizeof(float));
  cudaMemcpy(signal, host.data(), 128 * sizeof(float), cudaMemcpyHostToDevice);
  smooth<<<1, 128>>>(signal, 3);
  cudaMemcpy(host.data(), signal, 128 * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("peak %g\n", host[64]);
  cudaFree(signal);
}
