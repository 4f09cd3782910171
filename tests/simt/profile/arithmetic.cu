// Floating-point operations as the source has them: each of + - * / and sqrt() is one, fma() two; negation,
// comparison, conversion and the choice of a minimum are none. Functions such as expf() are counted apart. 4
// warps of 32 lanes.
// Marks stand at the end of their lines:
// clang-format off
#include <cmath>
#include <cstdio>

__global__ void singles(float* y, const float* x, float a) {
  const int i = threadIdx.x;
  const float v = x[i], w = x[i + 128];
  float sum = a * v + w;      // counts: flops=256
  sum += fmaf(v, w, sum);     // fma and an addition. counts: flops=384
  sum = sum / (v + 2.f);      // counts: flops=256
  sum -= sqrtf(w * w + 1.f);  // counts: flops=512
  sum = fmaxf(-sum, 0.f);     // counts: flops=0
  sum += expf(v) * sinf(w);   // counts: flops=256 functions=256
  sum += (float)i;            // counts: flops=128
  y[i] = sum;                 // counts: flops=0 requests=4
}

__global__ void doubles(double* y, const double* x) {
  const int i = threadIdx.x;
  y[i] = x[i] * x[i + 1] - 0.5;  // counts: flops=256 requests=12
}

// A thread has one element of the product: 2·N operations, 2·64³ = 524,288 in all.
constexpr int kSide = 64, kTile = 16;
__global__ void product(float* c, const float* a, const float* b) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < kSide; ++k) sum += a[row * kSide + k] * b[k * kSide + column];  // counts: flops=524288
  c[row * kSide + column] = sum;
}

// A warp is two rows of 16 threads; 128 warps, 64 values of k. Of the tile of a it wants two words, one for
// each row, in one pass (rows lie 16 words apart: banks k and k + 16); of the tile of b 16 words in one pass.
__global__ void tiled_product(float* c, const float* a, const float* b) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int first = 0; first < kSide; first += kTile) {
    // 128 warps · 4 tiles; two rows of 64 bytes are 4 sectors, in shared memory 32 words one behind the
    // other.
    const float from_a = a[row * kSide + first + threadIdx.x];  // counts: requests=512 sectors=2048 ideal_sectors=2048
    const float from_b = b[(first + threadIdx.y) * kSide + column];  // counts: requests=512 sectors=2048 ideal_sectors=2048
    tile_a[threadIdx.y][threadIdx.x] = from_a;      // counts: requests=512 wavefronts=512
    tile_b[threadIdx.y][threadIdx.x] = from_b;      // counts: requests=512 wavefronts=512
    __syncthreads();                                // counts: barriers=512
    for (int k = 0; k < kTile; ++k)
      sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];  // counts: requests=16384 wavefronts=16384 ideal_wavefronts=16384 flops=524288
    __syncthreads();                                           // counts: barriers=512
  }
  c[row * kSide + column] = sum;  // counts: requests=128 sectors=512 ideal_sectors=512
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 65536);
  cudaMalloc(&y, 65536);
  cudaMemset(x, 0, 65536);
  singles<<<1, 128>>>(y, x, 2.f);
  doubles<<<1, 128>>>((double*)y, (const double*)x);
  const dim3 grid(kSide / kTile, kSide / kTile), block(kTile, kTile);
  product<<<grid, block>>>(y, x, x + 4096);
  tiled_product<<<grid, block>>>(y, x, x + 4096);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
