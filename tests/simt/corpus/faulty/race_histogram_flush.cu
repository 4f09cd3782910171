// What is wrong: the block's bins are added to the result while other warps still count.
#include <cstdio>
#include <vector>

__global__ void histogram(const unsigned char* pixels, unsigned* bins, int n) {
  __shared__ unsigned local[256];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&local[pixels[i]], 1u);  // also: race
  }
  // All must have counted.
  const unsigned count = local[threadIdx.x];  // report: race
  if (count > 0) atomicAdd(&bins[threadIdx.x], count);
}

int main() {
  const int n = 3000;
  std::vector<unsigned char> image(n);
  for (int i = 0; i < n; ++i) image[i] = (unsigned char)(i * 31);
  unsigned char* pixels;
  unsigned *bins, result[256];
  cudaMalloc(&pixels, n);
  cudaMalloc(&bins, sizeof(result));
  cudaMemcpy(pixels, image.data(), n, cudaMemcpyHostToDevice);
  cudaMemset(bins, 0, sizeof(result));
  histogram<<<2, 256>>>(pixels, bins, n);
  cudaMemcpy(result, bins, sizeof(result), cudaMemcpyDeviceToHost);
  std::printf("%u\n", result[0]);
  cudaFree(pixels);
  cudaFree(bins);
}
