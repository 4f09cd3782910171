/// Kernels of matmul and linear, which is the same product with a bias: naive, tiled.
#include "treadle/ops/device_variant.h"
#include "treadle/ops/matrix/matrix_product.h"

namespace treadle::TREADLE_TARGET {
namespace {

/// One entry of the batch, typed.
template <class T>
struct Matrices {
  const T *a, *b, *bias;
  T* c;

  __device__ Matrices(const MatrixProduct& p, int64_t index) {
    int64_t offsets[3];
    p.batch.offsets(index, offsets);
    c = static_cast<T*>(p.c) + offsets[0];
    a = static_cast<const T*>(p.a) + offsets[1];
    b = static_cast<const T*>(p.b) + offsets[2];
    bias = static_cast<const T*>(p.bias);
  }
};

template <class T>
__device__ Compute<T> bias_of(const T* bias, int64_t position) {
  return bias ? static_cast<Compute<T>>(bias[position]) : Compute<T>(0);
}

/// One thread per element of c, threads of a warp along a row of c: each reads a row of a and a column of b
/// from global memory, 2·K elements for one result.
template <class T>
__global__ void matmul_naive(MatrixProduct p) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= p.outputs()) return;
  const int64_t n = i % p.N, m = i / p.N % p.M;
  const Matrices<T> x(p, i / p.N / p.M);
  const T *a = x.a + m * p.a_row, *b = x.b + n * p.b_column;
  Compute<T> sum = bias_of(x.bias, n * p.bias_step);
  for (int64_t k = 0; k < p.K; ++k)
    sum += static_cast<Compute<T>>(a[k * p.a_column]) * static_cast<Compute<T>>(b[k * p.b_row]);
  x.c[m * p.c_row + n * p.c_column] = static_cast<T>(sum);
}

constexpr int kTile = 32;              ///< rows and columns of c that a block makes
constexpr int kDepth = 32;             ///< steps along K that lie in shared memory at once
constexpr int kPatch = 4;              ///< rows and columns of c that a thread makes
constexpr int kSide = kTile / kPatch;  ///< threads along each side of the tile
constexpr int kTileThreads = kSide * kSide;

/// kDepth × kTile elements. Rows are padded by one patch: aligned for wide loads, and columns spread over the
/// banks.
template <class T>
using SharedTile = Compute<T>[kDepth][kTile + kPatch];

/// Copies a tile whose elements are `along` apart across c and `deep` apart along K; zeros beyond the given
/// room. Neighbouring threads follow the shorter stride, so that both a matrix and its transpose are read in
/// whole sectors.
template <class T>
__device__ void load_tile(SharedTile<T>& tile, const T* source, int64_t along, int64_t deep,
                          int64_t room_along, int64_t room_deep) {
  const bool deep_first = deep < along;
  for (int i = threadIdx.x; i < kTile * kDepth; i += kTileThreads) {
    const int fast = i % kTile, slow = i / kTile;
    const int d = deep_first ? fast : slow, t = deep_first ? slow : fast;
    const bool inside = d < room_deep && t < room_along;
    tile[d][t] = inside ? static_cast<Compute<T>>(source[d * deep + t * along]) : Compute<T>(0);
  }
}

template <class T>
using Patch = Compute<T>[kPatch][kPatch];

/// Adds the products of two tiles to the patch at (row, column): 2·kPatch shared reads for kPatch²
/// multiply-adds.
template <class T>
__device__ void add_products(Patch<T>& sums, const SharedTile<T>& a, const SharedTile<T>& b, int row,
                             int column) {
  for (int d = 0; d < kDepth; ++d) {
    UNROLL(4) for (int i = 0; i < kPatch; ++i) {
      UNROLL(4) for (int j = 0; j < kPatch; ++j) sums[i][j] += a[d][row + i] * b[d][column + j];
    }
  }
}

/// A block makes a 32×32 tile of c, each of its 64 threads a 4×4 patch in registers. Tiles of a and b pass
/// through shared memory, so each element is read from global memory once per block: 2·K/32 elements for one
/// result.
template <class T>
__global__ void __launch_bounds__(kTileThreads) matmul_tiled(MatrixProduct p, int64_t across, int64_t down) {
  static_assert(kTile == kDepth, "load_tile gives both the same index range");
  __shared__ __align__(16) SharedTile<T> a_tile;
  __shared__ __align__(16) SharedTile<T> b_tile;
  const int64_t n0 = blockIdx.x % across * kTile, m0 = blockIdx.x / across % down * kTile;
  const Matrices<T> x(p, blockIdx.x / across / down);
  const T *a = x.a + m0 * p.a_row, *b = x.b + n0 * p.b_column;
  const int row = threadIdx.x / kSide * kPatch, column = threadIdx.x % kSide * kPatch;
  Patch<T> sums{};
  for (int64_t k = 0; k < p.K; k += kDepth) {
    load_tile<T>(a_tile, a + k * p.a_column, p.a_row, p.a_column, p.M - m0, p.K - k);
    load_tile<T>(b_tile, b + k * p.b_row, p.b_column, p.b_row, p.N - n0, p.K - k);
    __syncthreads();
    add_products<T>(sums, a_tile, b_tile, row, column);
    __syncthreads();
  }
  UNROLL(4) for (int i = 0; i < kPatch; ++i) {
    UNROLL(4) for (int j = 0; j < kPatch; ++j) {
      const int64_t m = m0 + row + i, n = n0 + column + j;
      if (m < p.M && n < p.N)
        x.c[m * p.c_row + n * p.c_column] = static_cast<T>(sums[i][j] + bias_of(x.bias, n * p.bias_step));
    }
  }
}

/// c[m,n] = bias[n]: one thread per element.
template <class T>
__global__ void linear_bias(MatrixProduct p) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= p.outputs()) return;
  const int64_t n = i % p.N, m = i / p.N;
  static_cast<T*>(p.c)[m * p.c_row + n * p.c_column] = static_cast<const T*>(p.bias)[n * p.bias_step];
}

template <MatrixProduct (*product_of)(const Call&)>
void run_naive(const Call& call) {
  const MatrixProduct p = product_of(call);
  with_floating_device_type(p.dtype, [&](auto tag) {
    launch<matmul_naive<typename decltype(tag)::type>, independent>(stream_of(call), blocks_for(p.outputs()),
                                                                    kThreads, 0, p);
  });
}

template <MatrixProduct (*product_of)(const Call&)>
void run_tiled(const Call& call) {
  const MatrixProduct p = product_of(call);
  const int64_t across = (p.N + kTile - 1) / kTile, down = (p.M + kTile - 1) / kTile;
  with_floating_device_type(p.dtype, [&](auto tag) {
    launch<matmul_tiled<typename decltype(tag)::type>>(
        stream_of(call), unsigned(across * down * p.batch.numel), kTileThreads, 0, p, across, down);
  });
}

template <MatrixProduct (*product_of)(const Call&)>
void add_variants(Registry& registry, const char* op) {
  add_variant(registry, op, {.name = "naive", .device = kDevice, .run = run_naive<product_of>});
  add_variant(registry, op,
              {.name = "tiled", .device = kDevice, .run = run_tiled<product_of>, .preference = 10});
}

}  // namespace

/// Fills the output of a linear call with its bias, for a library's product to add to.
void start_with_bias(const Call& call) {
  const MatrixProduct p = linear_product(call);
  with_floating_device_type(p.dtype, [&](auto tag) {
    launch<linear_bias<typename decltype(tag)::type>, independent>(stream_of(call), blocks_for(p.outputs()),
                                                                   kThreads, 0, p);
  });
}

void register_matrix_cuda_matmul(Registry& registry) {
  add_variants<matmul_product>(registry, "matmul");
  add_variants<linear_product>(registry, "linear");
}

}  // namespace treadle::TREADLE_TARGET
