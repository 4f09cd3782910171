// Why it is right: bins are cleared, counted by atomics and added up, with a barrier between each of these.
#include <cstdio>
#include <vector>

__global__ void histogram(const unsigned char* pixels, unsigned* bins, int n) {
  __shared__ unsigned local[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) local[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&local[pixels[i]], 1u);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x) {
    if (local[b] > 0) atomicAdd(&bins[b], local[b]);
  }
}

int main() {
  const int n = 3000;
  std::vector<unsigned char> image(n);
  for (int i = 0; i < n; ++i) image[i] = (unsigned char)(i % 100);
  unsigned char* pixels;
  unsigned *bins, result[256];
  cudaMalloc(&pixels, n);
  cudaMalloc(&bins, sizeof(result));
  cudaMemcpy(pixels, image.data(), n, cudaMemcpyHostToDevice);
  cudaMemset(bins, 0, sizeof(result));
  histogram<<<3, 128>>>(pixels, bins, n);
  cudaMemcpy(result, bins, sizeof(result), cudaMemcpyDeviceToHost);
  std::printf("%u %u\n", result[0], result[100]);
  cudaFree(pixels);
  cudaFree(bins);
  return result[0] == 30 && result[100] == 0 ? 0 : 1;
}
