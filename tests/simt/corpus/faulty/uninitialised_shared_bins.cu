// What is wrong: shared memory starts with anything in it, and the bins are not set to zero.
#include <cstdio>
#include <vector>

__global__ void histogram(const unsigned char* x, unsigned* bins, int n) {
  __shared__ unsigned local[16];  // also: uninitialised
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    atomicAdd(&local[x[i] / 16], 1u);  // report: uninitialised
  __syncthreads();
  if (threadIdx.x < 16) bins[threadIdx.x] = local[threadIdx.x];  // also: uninitialised
}

int main() {
  const int n = 1024;
  std::vector<unsigned char> host(n);
  for (int i = 0; i < n; ++i) host[i] = (unsigned char)i;
  unsigned char* x;
  unsigned *bins, result[16];
  cudaMalloc(&x, n);
  cudaMalloc(&bins, sizeof(result));
  cudaMemcpy(x, host.data(), n, cudaMemcpyHostToDevice);
  histogram<<<1, 128>>>(x, bins, n);
  cudaMemcpy(result, bins, sizeof(result), cudaMemcpyDeviceToHost);
  std::printf("%u\n", result[0]);
  cudaFree(x);
  cudaFree(bins);
}
