/// Transposition in tiles that turn in shared memory.
///
/// One of the two sides of a transposition jumps: naive writes neighbours and reads elements a row apart, a
/// sector of 32 bytes for 4 of them. A block that takes a tile of 32×32 reads its rows whole, writes the rows
/// of the turned tile whole, and does the jumping in shared memory, where any place is as near as another.
/// But a column of the tile lies in a single bank there, so that reading it takes 32 times as long as reading
/// a row (padded). Ruetsch and Micikevicius, Optimizing Matrix Transpose in CUDA, 2009.
#include "treadle/ops/layout/cuda/transpose.cuh"

namespace treadle::TREADLE_TARGET {

void register_layout_cuda_tiled(Registry& registry) {
  add_copy_variants(registry, {.name = "tiled",
                               .device = kDevice,
                               .run = run_transposition<0>,
                               .when = is_transposition,
                               .preference = -1,
                               .rung = 2,
                               .idea = "tiles turn in shared memory: rows are read whole and written whole"});
}

}  // namespace treadle::TREADLE_TARGET
