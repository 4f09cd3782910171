/// Transposition in tiles whose rows in shared memory are one element longer than they need be.
///
/// As tiled, but element (row, column) lies at 33·row + column: those of a column are 33 places apart, hence
/// in 32 different banks, as those of a row are. 128 bytes of 4 KiB for a read of 32 elements in one go, not
/// in 32. Ruetsch and Micikevicius, Optimizing Matrix Transpose in CUDA, 2009; Harris, An Efficient Matrix
/// Transpose in CUDA C/C++, 2013.
#include "treadle/ops/layout/cuda/transpose.cuh"

namespace treadle::TREADLE_TARGET {

void register_layout_cuda_padded(Registry& registry) {
  add_copy_variants(registry, {.name = "padded",
                               .device = kDevice,
                               .run = run_transposition<kWithoutConflicts>,
                               .when = is_transposition,
                               .preference = 1,
                               .rung = 3,
                               .idea = "rows one element longer: a column of the tile lies in 32 banks"});
}

}  // namespace treadle::TREADLE_TARGET
