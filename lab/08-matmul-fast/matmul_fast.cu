// C = A·B for square matrices of n × n, n a multiple of 64: what comes after tiles in shared memory.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

#include "../lab.h"

constexpr int kTile = 64;              // rows and columns of C for a block
constexpr int kDepth = 16;             // elements along k that are in shared memory at once
constexpr int kPatch = 4;              // rows and columns of C for a thread
constexpr int kSide = kTile / kPatch;  // threads along a side of the tile: 16 × 16 in a block

// Where a thread's patch of C begins in its tile, and the tile in C.
__device__ int patch_row() { return threadIdx.x / kSide * kPatch; }
__device__ int patch_column() { return threadIdx.x % kSide * kPatch; }
__device__ int tile_row() { return blockIdx.y * kTile; }
__device__ int tile_column() { return blockIdx.x * kTile; }

// A patch of C in registers: 8 elements from shared memory serve 16 products.
struct Patch {
  float sums[kPatch][kPatch] = {};

  __device__ void add(const float (&a)[kPatch], const float (&b)[kPatch]) {
#pragma unroll
    for (int r = 0; r < kPatch; ++r)
#pragma unroll
      for (int c = 0; c < kPatch; ++c) sums[r][c] += a[r] * b[c];
  }
  __device__ void store(float* c, int n) const {
    for (int r = 0; r < kPatch; ++r)
      for (int i = 0; i < kPatch; ++i)
        c[(tile_row() + patch_row() + r) * n + tile_column() + patch_column() + i] = sums[r][i];
  }
};

__global__ void matmul_registers(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[kTile][kDepth], b_tile[kDepth][kTile];
  Patch patch;
  for (int first = 0; first < n; first += kDepth) {
    for (int i = threadIdx.x; i < kTile * kDepth; i += blockDim.x) {
      a_tile[i / kDepth][i % kDepth] = a[(tile_row() + i / kDepth) * n + first + i % kDepth];
      b_tile[i / kTile][i % kTile] = b[(first + i / kTile) * n + tile_column() + i % kTile];
    }
    __syncthreads();
    for (int k = 0; k < kDepth; ++k) {
      float of_a[kPatch], of_b[kPatch];
      for (int i = 0; i < kPatch; ++i) {
        of_a[i] = a_tile[patch_row() + i][k];
        of_b[i] = b_tile[k][patch_column() + i];
      }
      patch.add(of_a, of_b);
    }
    __syncthreads();
  }
  patch.store(c, n);
}

// 16 bytes in each access. The tile of A is turned on its way, so that a thread's four elements of it are
// neighbours.
__global__ void matmul_vectors(const float* a, const float* b, float* c, int n) {
  __shared__ __align__(16) float a_tile[kDepth][kTile], b_tile[kDepth][kTile];
  Patch patch;
  int a_row = threadIdx.x / (kDepth / 4), a_column = threadIdx.x % (kDepth / 4) * 4;
  int b_row = threadIdx.x / (kTile / 4), b_column = threadIdx.x % (kTile / 4) * 4;
  for (int first = 0; first < n; first += kDepth) {
    float4 four = *reinterpret_cast<const float4*>(&a[(tile_row() + a_row) * n + first + a_column]);
    a_tile[a_column][a_row] = four.x, a_tile[a_column + 1][a_row] = four.y;
    a_tile[a_column + 2][a_row] = four.z, a_tile[a_column + 3][a_row] = four.w;
    *reinterpret_cast<float4*>(&b_tile[b_row][b_column]) =
        *reinterpret_cast<const float4*>(&b[(first + b_row) * n + tile_column() + b_column]);
    __syncthreads();
    for (int k = 0; k < kDepth; ++k) {
      float4 of_a = *reinterpret_cast<float4*>(&a_tile[k][patch_row()]);
      float4 of_b = *reinterpret_cast<float4*>(&b_tile[k][patch_column()]);
      patch.add({of_a.x, of_a.y, of_a.z, of_a.w}, {of_b.x, of_b.y, of_b.z, of_b.w});
    }
    __syncthreads();
  }
  patch.store(c, n);
}

// Two pairs of tiles: while one is multiplied, the copies of the next are on their way (cp.async), without a
// register and without a thread that waits for them.
__global__ void matmul_buffered(const float* a, const float* b, float* c, int n) {
  __shared__ __align__(16) float a_tile[2][kTile][kDepth], b_tile[2][kDepth][kTile];
  Patch patch;
  int a_row = threadIdx.x / (kDepth / 4), a_column = threadIdx.x % (kDepth / 4) * 4;
  int b_row = threadIdx.x / (kTile / 4), b_column = threadIdx.x % (kTile / 4) * 4;
  auto begin_copies = [&](int stage, int first) {
    __pipeline_memcpy_async(&a_tile[stage][a_row][a_column], &a[(tile_row() + a_row) * n + first + a_column],
                            16);
    __pipeline_memcpy_async(&b_tile[stage][b_row][b_column],
                            &b[(first + b_row) * n + tile_column() + b_column], 16);
    __pipeline_commit();
  };
  begin_copies(0, 0);
  for (int first = 0, stage = 0; first < n; first += kDepth, stage ^= 1) {
    __pipeline_wait_prior(0);  // one's own copies have arrived
    __syncthreads();           // everybody's have, and nobody reads the other stage any more
    if (first + kDepth < n) begin_copies(stage ^ 1, first + kDepth);
    for (int k = 0; k < kDepth; ++k) {
      float of_a[kPatch], of_b[kPatch];
      for (int i = 0; i < kPatch; ++i) {
        of_a[i] = a_tile[stage][patch_row() + i][k];
        of_b[i] = b_tile[stage][k][patch_column() + i];
      }
      patch.add(of_a, of_b);
    }
  }
  patch.store(c, n);
}

// Tensor cores: a warp multiplies matrices of 16 × 16 halves at once and adds in floats. Four warps, each a
// quarter of the block's tile of 32 × 32.
__global__ void matmul_tensor(const __half* a, const __half* b, float* c, int n) {
  using namespace nvcuda::wmma;
  int warp = threadIdx.x / 32;
  int row = blockIdx.y * 32 + warp / 2 * 16, column = blockIdx.x * 32 + warp % 2 * 16;
  fragment<matrix_a, 16, 16, 16, __half, row_major> of_a;
  fragment<matrix_b, 16, 16, 16, __half, row_major> of_b;
  fragment<accumulator, 16, 16, 16, float> sums;
  fill_fragment(sums, 0.0f);
  for (int k = 0; k < n; k += 16) {
    load_matrix_sync(of_a, a + row * n + k, n);
    load_matrix_sync(of_b, b + k * n + column, n);
    mma_sync(sums, of_a, of_b, sums);
  }
  store_matrix_sync(c + row * n + column, sums, n, mem_row_major);
}

std::vector<float> product(const std::vector<float>& a, const std::vector<float>& b, int n) {
  std::vector<float> c(a.size());
  for (int row = 0; row < n; ++row)
    for (int column = 0; column < n; ++column) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += double(a[row * n + k]) * b[k * n + column];
      c[row * n + column] = float(sum);
    }
  return c;
}

// The nearest half of each.
std::vector<__half> halves(std::vector<float>& values) {
  std::vector<__half> result;
  for (float& value : values) {
    result.push_back(__float2half(value));
    value = __half2float(result.back());
  }
  return result;
}

int main(int count, char** words) {
  const int n = lab::positive_argument(count, words, 1, 128);
  if (n < kTile || n % kTile != 0) {
    printf("the size is a multiple of %d\n", kTile);
    return 1;
  }
  std::vector<float> a = lab::numbers(size_t(n) * n, 1), b = lab::numbers(size_t(n) * n, 2);
  std::vector<float> expected = product(a, b, n);
  const double tolerance = 2.0 * n * n * 0x1p-24;  // lesson 7
  const lab::Array<float> device_a(a), device_b(b);
  const dim3 grid(n / kTile, n / kTile);
  const int threads = kSide * kSide;

  lab::Table table("a product of matrices");
  table.row("matmul_registers", expected, tolerance,
            [&](float* c) { matmul_registers<<<grid, threads>>>(device_a, device_b, c, n); });
  table.row("matmul_vectors", expected, tolerance,
            [&](float* c) { matmul_vectors<<<grid, threads>>>(device_a, device_b, c, n); });
  table.row("matmul_buffered", expected, tolerance,
            [&](float* c) { matmul_buffered<<<grid, threads>>>(device_a, device_b, c, n); });
  const lab::Array<__half> half_a(halves(a)), half_b(halves(b));
  table.row("matmul_tensor", product(a, b, n), tolerance,
            [&](float* c) { matmul_tensor<<<dim3(n / 32, n / 32), 128>>>(half_a, half_b, c, n); });
  return table.end();
}
