/// Copies and fills of the host interface, with the checks of the CUDA runtime.
#pragma once

#include <cstddef>

#include "treadle/simt/target.h"
#include "treadle/simt/toolkit/runtime_state.h"

namespace treadle::TREADLE_TARGET::toolkit {

/// Rows of bytes in slices; a plain range is one row.
struct Region {
  size_t width, height = 1, depth = 1;
  bool empty() const { return width == 0 || height == 0 || depth == 0; }
};

/// Where the rows of a region lie: `pitch` bytes from row to row, `slice` bytes from slice to slice.
struct Rows {
  void* begin;
  size_t pitch = 0, slice = 0;
};

/// cudaSuccess, or what is wrong with the copy.
cudaError_t check_copy(const Call& call, Rows target, Rows source, Region region, cudaMemcpyKind kind);
void copy(Rows target, Rows source, Region region);

cudaError_t check_fill(const Call& call, Rows target, Region region);
void fill(Rows target, int value, Region region);

}  // namespace treadle::TREADLE_TARGET::toolkit
