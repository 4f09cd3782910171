// Passes over shared memory ("wavefronts"): 32 banks of four bytes, each gives one word in a pass. What lanes
// want of different words of one bank takes a pass each; the same word goes to all who want it.
//
// One block of 64 threads: 2 warps, so 2 requests a line.
// Marks stand at the end of their lines:
// clang-format off
#include <cuda_fp16.h>

#include <cstdio>

__global__ void four_bytes(float* y) {
  __shared__ float s[64 * 33];
  const int t = threadIdx.x;
  for (int i = t; i < 64 * 33; i += 64) s[i] = i;
  __syncthreads();  // counts: barriers=2
  float sum = 0;
  sum += s[t];  // counts: requests=2 wavefronts=2 ideal_wavefronts=2 shared_bytes=256
  sum += s[2 * t];  // every other bank, each twice: 2 passes. counts: requests=2 wavefronts=4 ideal_wavefronts=2
  sum += s[3 * t];   // 3 and 32 share no divisor: all banks. counts: requests=2 wavefronts=2
  sum += s[4 * t];   // every fourth bank: 4 passes. counts: requests=2 wavefronts=8
  sum += s[32 * t];  // one bank: 32 passes. counts: requests=2 wavefronts=64 ideal_wavefronts=2
  sum += s[33 * t];  // a column of a padded tile: all banks. counts: requests=2 wavefronts=2
  sum += s[5];       // the same word for all. counts: requests=2 wavefronts=2 ideal_wavefronts=2
  sum += s[t / 2];   // 16 words. counts: requests=2 wavefronts=2
  sum += s[t ^ 7];   // a permutation. counts: requests=2 wavefronts=2
  y[t] = sum;        // counts: requests=2 sectors=8
}

// Halves of a warp, each by itself: 16 lanes of 8 bytes have 32 words.
__global__ void eight_bytes(double* y) {
  __shared__ double s[128];
  const int t = threadIdx.x;
  s[t] = t;  // counts: requests=2 wavefronts=4 ideal_wavefronts=4 shared_bytes=512
  s[t + 64] = t;
  __syncthreads();
  double sum = 0;
  sum += s[t];      // counts: requests=2 wavefronts=4 ideal_wavefronts=4
  sum += s[2 * t];  // lanes l and l + 8 of a half share their banks: 2 passes a half. counts: wavefronts=8 ideal_wavefronts=4
  y[t] = sum;       // 32 doubles are 256 bytes. counts: requests=2 sectors=16 ideal_sectors=16
}

// Quarters: 8 lanes of 16 bytes have 32 words.
__global__ void sixteen_bytes(float4* y) {
  __shared__ float4 s[128];
  const int t = threadIdx.x;
  s[t] = make_float4(t, t, t, t);  // counts: requests=2 wavefronts=8 ideal_wavefronts=8 shared_bytes=1024
  s[t + 64] = make_float4(0, 1, 2, 3);
  __syncthreads();
  const float4 a = s[t];  // counts: requests=2 wavefronts=8 ideal_wavefronts=8
  const float4 b = s[2 * t];  // lanes l and l + 4 of a quarter share their banks. counts: wavefronts=16 ideal_wavefronts=8
  y[t] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);  // counts: requests=2 sectors=32 flops=256
}

// Bytes of one word need one pass, and 32 neighbours 8 words.
__global__ void one_byte(unsigned char* y) {
  __shared__ unsigned char s[64 * 4];
  const int t = threadIdx.x;
  s[t] = t;  // counts: requests=2 wavefronts=2
  s[t + 64] = 1;
  s[t + 128] = 2;
  s[t + 192] = 3;
  __syncthreads();
  y[t] = s[4 * t];  // counts: wavefronts=2 sectors=2
}

// Two halves in a word: 16 words. Halves are a class here, for whose arrays the compiler keeps a note, which is nobody's access.
__global__ void two_bytes(__half* y) {
  __shared__ __half s[64];  // counts: requests=0
  const int t = threadIdx.x;
  s[t] = __float2half(1.f);  // counts: requests=2 wavefronts=2 ideal_wavefronts=2 shared_bytes=128
  __syncthreads();
  y[t] = s[63 - t];  // counts: requests=4 wavefronts=2 sectors=4 ideal_sectors=4
}

// Dynamic shared memory has the same banks.
extern __shared__ float area[];
__global__ void dynamic(float* y) {
  const int t = threadIdx.x;
  area[t] = t;  // counts: requests=2 wavefronts=2
  __syncthreads();
  y[t] = area[16 * t % 64];  // words 0, 16, 32, 48 in two banks: 2 passes. counts: wavefronts=4 ideal_wavefronts=2
}

int main() {
  void* y;
  cudaMalloc(&y, 4096);
  four_bytes<<<1, 64>>>((float*)y);
  eight_bytes<<<1, 64>>>((double*)y);
  sixteen_bytes<<<1, 64>>>((float4*)y);
  one_byte<<<1, 64>>>((unsigned char*)y);
  two_bytes<<<1, 64>>>((__half*)y);
  dynamic<<<1, 64, 64 * sizeof(float)>>>((float*)y);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
