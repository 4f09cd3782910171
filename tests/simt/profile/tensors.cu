// Products of tensor cores: 2·M·N·K operations of a warp.
// Marks stand at the end of their lines:
// clang-format off
#include <mma.h>

#include <cstdio>

using namespace nvcuda;

// One warp, a product of 16×16×16 in each of two rounds: 2·2·16³ = 16,384.
__global__ void product(float* c, const half* a, const half* b) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> y;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.f);
  for (int k = 0; k < 32; k += 16) {
    wmma::load_matrix_sync(x, a + k, 32);
    wmma::load_matrix_sync(y, b + k, 32);
    wmma::mma_sync(sum, x, y, sum);  // counts: tensor_flops=16384 flops=0 collectives=2
  }
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

int main() {
  half *a, *b;
  float* c;
  cudaMalloc(&a, 1024);
  cudaMalloc(&b, 1024);
  cudaMalloc(&c, 1024);
  cudaMemset(a, 0, 1024);
  cudaMemset(b, 0, 1024);
  auto* kernel = product;
  kernel<<<1, 32>>>(c, a, b);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
