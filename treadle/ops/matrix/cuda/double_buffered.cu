/// matmul and linear with two stages of shared memory: as conflict_free, but while a block multiplies the
/// tiles of one step, those of the next are on their way.
///
/// Until here all threads wait for global memory, some 500 cycles, before each step; other blocks of the
/// multiprocessor fill the gap where there are any, and 8×8 patches leave room for few. cp.async (from sm_80)
/// moves from global to shared memory without registers in between and without a thread that waits. Of the
/// two barriers of a step one is left. NVIDIA, CUDA C++ Programming Guide, "Asynchronous data copies"; Boehm,
/// How to Optimize a CUDA Matmul Kernel for cuBLAS-like Performance, 2022, kernels 11 and 12.
#include "treadle/ops/matrix/cuda/float_stage.cuh"

namespace treadle::TREADLE_TARGET {
namespace {

constexpr int kTile = 128;   ///< rows and columns of c for a block
constexpr int kBlock = 256;  ///< threads, one patch each
constexpr int kHalf = kTile / 2;
using Stage = FloatStage<kTile, kTile, 8>;

__global__ void __launch_bounds__(kBlock) matmul_double_buffered(MatrixProduct p, TileGrid grid) {
  __shared__ __align__(16) Stage stages[2];
  const int row = int(threadIdx.x) / 16 * 4, column = int(threadIdx.x) % 16 * 4;
  const PatchPlace place{{row, row + kHalf}, {column, column + kHalf}};
  FloatPatch sums{};
  Stage::add_all_products(sums, place, stages, p, grid);
  store_patch(p, grid, sums, place);
}

void run(stream_t stream, const MatrixProduct& p) {
  const TileGrid grid(p, kTile, kTile);
  launch<matmul_double_buffered>(stream, grid.blocks(p), kBlock, 0, p, grid);
}

}  // namespace

void register_matrix_cuda_double_buffered(Registry& registry) {
  add_product_variant(registry, {.name = "double_buffered",
                                 .run = run,
                                 .when = has_wide_rows_of_floats,
                                 .preference = -1,
                                 .rung = 8,
                                 .idea = "the next tiles arrive by cp.async while these are multiplied"});
}

}  // namespace treadle::TREADLE_TARGET
