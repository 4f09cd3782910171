/// matmul and linear of f16 and bf16 on tensor cores, by PTX (ldmatrix and mma.sync).
///
/// As wmma, with the layout of fragments known: results go to c straight from registers, four matrices are
/// loaded by one ldmatrix, and pieces of 16 bytes are exchanged in shared memory by XOR with their row, so
/// that neither copies nor ldmatrix meet in a bank and no memory is left empty. A warp makes 64×32 results:
/// per 16 steps along K 6 loads for 16 products of 16×8×16. Three stages of shared memory are in turn, as
/// tensor cores finish one before the next could arrive. Sizes of a block's tile are variants, among which a
/// measurement chooses. NVIDIA, PTX ISA, "mma.m16n8k16" and "ldmatrix"; CUTLASS documentation, "Efficient
/// GEMM in CUDA"; Thakkar et al., CUTLASS, 2017.
#include "treadle/ops/matrix/cuda/half_product.cuh"

namespace treadle::TREADLE_TARGET {
namespace {

constexpr int kDepth = 32;                        ///< steps along K in a stage
constexpr int kWarpRows = 64, kWarpColumns = 32;  ///< results of a warp
constexpr int kRowTiles = kWarpRows / 16, kColumnTiles = kWarpColumns / 8;
constexpr int kStages = 3;

template <int kRows, int kColumns>
inline constexpr int kBlock = kRows / kWarpRows*(kColumns / kWarpColumns) * 32;

/// The tiles of a and b for kDepth steps. A row of a is 4 pieces: two rows fill the 32 banks, so pieces are
/// exchanged from pair to pair of rows; a row of b fills them once or twice, so from row to row.
template <class T, int kRows, int kColumns>
struct Stage {
  T a[kRows][kDepth];
  T b[kDepth][kColumns];

  /// Where the piece lies that holds column `column` of a row, and the next seven.
  __device__ T* a_piece(int row, int column) { return &a[row][(column / kPiece ^ row / 2 % 4) * kPiece]; }
  __device__ T* b_piece(int row, int column) { return &b[row][(column / kPiece ^ row % 8) * kPiece]; }

  __device__ void fetch(const MatrixProduct& p, const Matrices<T>& x, const TileGrid& grid, int64_t k) {
    for (int i = int(threadIdx.x); i < kRows * kDepth / kPiece; i += int(blockDim.x)) {
      const int row = i / (kDepth / kPiece), depth = i % (kDepth / kPiece) * kPiece;
      const int64_t m = grid.row() + row;
      copy_piece(a_piece(row, depth), x.a + m * p.a_row + k + depth, m < p.M && k + depth < p.K);
    }
    for (int i = int(threadIdx.x); i < kDepth * kColumns / kPiece; i += int(blockDim.x)) {
      const int depth = i / (kColumns / kPiece), column = i % (kColumns / kPiece) * kPiece;
      const int64_t n = grid.column() + column;
      copy_piece(b_piece(depth, column), x.b + (k + depth) * p.b_row + n, k + depth < p.K && n < p.N);
    }
  }
};

/// A warp's results: those of one mma.sync after another.
using Sums = float[kRowTiles][kColumnTiles][4];

/// The products of a stage for the warp whose tile begins at (row, column).
template <class T, class Tiles>
__device__ void add_products(Sums& sums, Tiles& tiles, int row, int column) {
  const int lane = int(threadIdx.x) % 32, half = lane / 16 * kPiece;
  UNROLL(2) for (int d = 0; d < kDepth; d += 16) {
    uint32_t a[kRowTiles][4], b[kColumnTiles / 2][4];  // one load of b serves two tiles of 8 columns
    UNROLL(4)
    for (int i = 0; i < kRowTiles; ++i) ldmatrix_x4(a[i], tiles.a_piece(row + i * 16 + lane % 16, d + half));
    UNROLL(2)
    for (int j = 0; j < kColumnTiles / 2; ++j)
      ldmatrix_x4_trans(b[j], tiles.b_piece(d + lane % 16, column + j * 16 + half));
    UNROLL(4) for (int i = 0; i < kRowTiles; ++i) {
      UNROLL(4) for (int j = 0; j < kColumnTiles; ++j) {
        const uint32_t columns[2] = {b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]};
        mma_m16n8k16<T>(sums[i][j], a[i], columns);
      }
    }
  }
}

/// A pair of neighbours in a row of c.
template <class T>
struct alignas(4) Pair {
  T first, second;
};

/// c = sums + bias, as far as c goes; lane l holds columns 2·(l % 4) and the next of rows l / 4 and l / 4
/// + 8.
template <class T>
__device__ void store_sums(const Sums& sums, const MatrixProduct& p, const Matrices<T>& x, int64_t row,
                           int64_t column) {
  const int lane = int(threadIdx.x) % 32;
  UNROLL(4) for (int j = 0; j < kColumnTiles; ++j) {
    const int64_t n = column + j * 8 + lane % 4 * 2;
    if (n >= p.N) continue;
    const float first = bias_of(x.bias, n * p.bias_step), second = bias_of(x.bias, (n + 1) * p.bias_step);
    UNROLL(4) for (int i = 0; i < kRowTiles; ++i) {
      UNROLL(2) for (int half = 0; half < 2; ++half) {
        const int64_t m = row + i * 16 + half * 8 + lane / 4;
        const float* sum = sums[i][j] + 2 * half;
        if (m < p.M)
          *reinterpret_cast<Pair<T>*>(x.c + m * p.c_row + n) = {static_cast<T>(sum[0] + first),
                                                                static_cast<T>(sum[1] + second)};
      }
    }
  }
}

template <class T, int kRows, int kColumns>
__global__ void __launch_bounds__(kBlock<kRows, kColumns>) matmul_mma(MatrixProduct p, TileGrid grid) {
#if TREADLE_ARCH_AT_LEAST(800)
  constexpr int kAcross = kColumns / kWarpColumns;
  auto& stages = *dynamic_shared<Stage<T, kRows, kColumns>[kStages]>();
  const Matrices<T> x(p, grid.batch());
  const int warp = int(threadIdx.x) / 32;
  const int row = warp / kAcross * kWarpRows, column = warp % kAcross * kWarpColumns;
  // A group of copies is closed for each stage, also where K has ended, so that their number says which have
  // arrived.
  auto fetch = [&](int64_t step) {
    if (step * kDepth < p.K) stages[step % kStages].fetch(p, x, grid, step * kDepth);
    copy_async_commit();
  };
  for (int step = 0; step < kStages - 1; ++step) fetch(step);
  Sums sums{};
  for (int64_t step = 0; step * kDepth < p.K; ++step) {
    copy_async_wait<kStages - 2>();
    __syncthreads();  // this stage has arrived for all, and all have left the one that is filled next
    fetch(step + kStages - 1);
    add_products<T>(sums, stages[step % kStages], row, column);
  }
  store_sums(sums, p, x, grid.row() + row, grid.column() + column);
#endif
}

template <int kRows, int kColumns>
void run(stream_t stream, const MatrixProduct& p) {
  const TileGrid grid(p, kRows, kColumns);
  with_half_type(p.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<matmul_mma<T, kRows, kColumns>>(stream, grid.blocks(p), kBlock<kRows, kColumns>,
                                           kStages * sizeof(Stage<T, kRows, kColumns>), p, grid);
  });
}

/// Smaller products would fill less than half of a tile.
template <int kRows, int kColumns>
bool takes(const MatrixProduct& p) {
  return is_of_halves(p) && p.M >= kRows && p.N >= kColumns;
}

template <int kRows, int kColumns>
void add(Registry& registry, const char* name, int preference, const char* idea) {
  add_product_variant(registry, {.name = name,
                                 .run = run<kRows, kColumns>,
                                 .when = takes<kRows, kColumns>,
                                 .preference = preference,
                                 .rung = 11,
                                 .idea = idea});
}

}  // namespace

void register_matrix_cuda_mma(Registry& registry) {
  add<128, 128>(registry, "mma", 31, "tensor cores by ldmatrix and mma.sync, three stages, swizzled pieces");
  add<64, 64>(registry, "mma_64x64", 30, "the same with tiles of 64×64 for a block");
}

}  // namespace treadle::TREADLE_TARGET
