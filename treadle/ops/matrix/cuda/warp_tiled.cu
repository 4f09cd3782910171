/// matmul and linear with a tile for each warp: as double_buffered, but the 32 patches of a warp form a tile
/// of 64×32.
///
/// What the lanes of a warp read at the same time counts once. In rows of patches across the block's tile a
/// warp reads 16 elements of a and 128 of b for each step along K; patches of 8 lanes by 4 read 64 and 32,
/// two thirds, and find them in the registers' cache more often. The tile of a block is a parameter: large
/// ones read less of global memory, small ones are more, so that they fill a GPU sooner. Each size is a
/// variant; which is the fastest for a call is measured as between any variants (compile/variant_choice.h).
/// NVIDIA, CUTLASS documentation, "Efficient GEMM in CUDA"; Boehm, How to Optimize a CUDA Matmul Kernel for
/// cuBLAS-like Performance, 2022, kernel 10.
#include "treadle/ops/matrix/cuda/float_stage.cuh"
#include "treadle/ops/matrix/cuda/multiply.cuh"

namespace treadle::TREADLE_TARGET {
namespace {

constexpr int kWarpRows = 64, kWarpColumns = 32, kLanes = 32;

/// Threads of a block with tiles of kRows × kColumns.
template <int kRows, int kColumns>
inline constexpr int kBlock = kRows / kWarpRows*(kColumns / kWarpColumns) * kLanes;

template <int kRows, int kColumns>
using Stage = FloatStage<kRows, kColumns, 16>;

/// The lanes of a warp lie 8 × 4, each with quads half a warp's tile apart.
template <int kColumns>
__device__ PatchPlace place_of_thread() {
  constexpr int kAcross = kColumns / kWarpColumns;
  const int warp = int(threadIdx.x) / kLanes, lane = int(threadIdx.x) % kLanes;
  const int row = warp / kAcross * kWarpRows + lane / 4 * 4,
            column = warp % kAcross * kWarpColumns + lane % 4 * 4;
  return {{row, row + kWarpRows / 2}, {column, column + kWarpColumns / 2}};
}

template <int kRows, int kColumns>
__global__ void __launch_bounds__(kBlock<kRows, kColumns>) matmul_warp_tiled(MatrixProduct p, TileGrid grid) {
  using Tiles = Stage<kRows, kColumns>;
  auto& stages = *dynamic_shared<Tiles[2]>();
  const PatchPlace place = place_of_thread<kColumns>();
  FloatPatch sums{};
  Tiles::add_all_products(sums, place, stages, p, grid);
  store_patch(p, grid, sums, place);
}

template <int kRows, int kColumns>
void run(stream_t stream, const MatrixProduct& p) {
  const TileGrid grid(p, kRows, kColumns);
  launch<matmul_warp_tiled<kRows, kColumns>>(stream, grid.blocks(p), kBlock<kRows, kColumns>,
                                             2 * sizeof(Stage<kRows, kColumns>), p, grid);
}

/// Smaller products would fill less than half of a tile.
template <int kRows, int kColumns>
bool takes(const MatrixProduct& p) {
  return has_wide_rows_of_floats(p) && p.M >= kRows && p.N >= kColumns;
}

template <int kRows, int kColumns>
void add(Registry& registry, const char* name, int preference, const char* idea) {
  add_product_variant(registry, {.name = name,
                                 .run = run<kRows, kColumns>,
                                 .when = takes<kRows, kColumns>,
                                 .preference = preference,
                                 .rung = 9,
                                 .idea = idea});
}

}  // namespace

void multiply(stream_t stream, const MatrixProduct& p) {
  if (takes<128, 128>(p)) return run<128, 128>(stream, p);
  if (takes<64, 64>(p)) return run<64, 64>(stream, p);
  multiply_tiled(stream, p);
}

void register_matrix_cuda_warp_tiled(Registry& registry) {
  add<128, 128>(registry, "warp_tiled", 22,
                "a warp's patches form a tile, so that lanes share what they read");
  add<128, 64>(registry, "warp_tiled_128x64", 21, "the same with tiles of 128×64 for a block");
  add<64, 64>(registry, "warp_tiled_64x64", 20, "the same with tiles of 64×64 for a block");
}

}  // namespace treadle::TREADLE_TARGET
