// What is wrong: threads of a block add to the bins in shared memory without atomics.
#include <cstdio>
#include <vector>

__global__ void histogram(const unsigned char* pixels, unsigned* bins, int n) {
  __shared__ unsigned local[64];
  for (int b = threadIdx.x; b < 64; b += blockDim.x) local[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    local[pixels[i] / 4]++;  // report: race
  }
  __syncthreads();
  for (int b = threadIdx.x; b < 64; b += blockDim.x) atomicAdd(&bins[b], local[b]);
}

int main() {
  const int n = 2000;
  std::vector<unsigned char> image(n);
  for (int i = 0; i < n; ++i) image[i] = (unsigned char)(i * i);
  unsigned char* pixels;
  unsigned *bins, result[64];
  cudaMalloc(&pixels, n);
  cudaMalloc(&bins, sizeof(result));
  cudaMemcpy(pixels, image.data(), n, cudaMemcpyHostToDevice);
  cudaMemset(bins, 0, sizeof(result));
  histogram<<<2, 128>>>(pixels, bins, n);
  cudaMemcpy(result, bins, sizeof(result), cudaMemcpyDeviceToHost);
  std::printf("%u\n", result[0]);
  cudaFree(pixels);
  cudaFree(bins);
}
