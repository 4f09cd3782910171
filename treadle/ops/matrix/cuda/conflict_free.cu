/// matmul and linear without bank conflicts: as vectorized, with elements elsewhere in shared memory.
///
/// Shared memory has 32 banks of 4 bytes; lanes that ask one bank for different words are served one after
/// another. Two things change.
/// - Writing the turned tile of a, lanes 2·i and 2·i + 1 hold two quads of row i: words of one column of the
///   tile, hence of one bank. Rows 4 to 7 of the tile are stored with their columns exchanged in pairs of 16
///   (a swizzle: column XOR 16), which puts the 32 words of a warp into 32 banks, and costs no memory, as
///   padding would.
/// - Reading b, neighbouring lanes have patches 8 columns apart: of 8 lanes, which are served together, 4
/// pairs
///   want the same banks. A patch is split into quads 64 columns apart, so that 8 lanes read 32 neighbours.
/// Harris, An Efficient Matrix Transpose in CUDA C/C++, 2013, on banks; NVIDIA, CUTLASS documentation,
/// "Efficient GEMM in CUDA", on patches in parts and swizzled tiles.
#include "treadle/ops/matrix/cuda/float_patch.cuh"

namespace treadle::TREADLE_TARGET {
namespace {

constexpr int kTile = 128;   ///< rows and columns of c for a block
constexpr int kDepth = 8;    ///< steps along K at once
constexpr int kBlock = 256;  ///< threads: each copies one quad of either tile, and makes one patch
constexpr int kHalf = kTile / 2;
static_assert(kBlock * 4 == kTile * kDepth && kBlock * kPatch * kPatch == kTile * kTile);

/// By what the columns of row `depth` of the turned tile are exchanged.
__device__ constexpr int swizzle(int depth) { return depth / 4 * 16; }

__global__ void __launch_bounds__(kBlock) matmul_conflict_free(MatrixProduct p, TileGrid grid) {
  __shared__ __align__(16) float a_tile[kDepth][kTile];
  __shared__ __align__(16) float b_tile[kDepth][kTile];
  const Matrices<float> x(p, grid.batch());
  const int i = int(threadIdx.x);
  const int a_row = i / (kDepth / 4), a_depth = i % (kDepth / 4) * 4;   // the quad of a to copy
  const int b_depth = i / (kTile / 4), b_column = i % (kTile / 4) * 4;  // and that of b
  const int row = i / 16 * 4, column = i % 16 * 4;
  const PatchPlace place{{row, row + kHalf}, {column, column + kHalf}};
  const int64_t m = grid.row() + a_row, n = grid.column() + b_column;
  FloatPatch sums{};
  for (int64_t k = 0; k < p.K; k += kDepth) {
    const float4 a = quad_or_zeros(x.a + m * p.a_row + k + a_depth, m < p.M && k + a_depth < p.K);
    const int a_place = a_row ^ swizzle(a_depth);
    a_tile[a_depth][a_place] = a.x;
    a_tile[a_depth + 1][a_place] = a.y;
    a_tile[a_depth + 2][a_place] = a.z;
    a_tile[a_depth + 3][a_place] = a.w;
    quad_at(&b_tile[b_depth][b_column]) =
        quad_or_zeros(x.b + (k + b_depth) * p.b_row + n, k + b_depth < p.K && n < p.N);
    __syncthreads();
    UNROLL(8) for (int d = 0; d < kDepth; ++d) {
      const PatchPlace stored{{place.row[0] ^ swizzle(d), place.row[1] ^ swizzle(d)},
                              {place.column[0], place.column[1]}};
      add_outer_product(sums, a_tile[d], b_tile[d], stored);
    }
    __syncthreads();
  }
  store_patch(p, grid, sums, place);
}

void run(stream_t stream, const MatrixProduct& p) {
  const TileGrid grid(p, kTile, kTile);
  launch<matmul_conflict_free>(stream, grid.blocks(p), kBlock, 0, p, grid);
}

}  // namespace

void register_matrix_cuda_conflict_free(Registry& registry) {
  add_product_variant(registry,
                      {.name = "conflict_free",
                       .run = run,
                       .when = has_wide_rows_of_floats,
                       .preference = -1,
                       .rung = 7,
                       .idea = "swizzled columns and split patches: no two lanes wait for one bank"});
}

}  // namespace treadle::TREADLE_TARGET
