/// Convolution with 3×3 or 5×5 filters and 2×2 max-pooling in one, by Winograd's F(2×2, 3×3) and F(2×2, 5×5):
/// 16 or 36 products per channel for the four results of a pooling window, where sums of products take 36 or
/// 100. In SIMD instructions chosen at run time. `taps` are those along an axis, 3 or 5.
#pragma once

#include <cstdint>

#include "treadle/ops/conv2d/cpu/winograd_operands.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/pooled_output.h"

namespace treadle::cpu {

/// Floats of one block of transformed filters, bias included.
int64_t winograd_block_size(int64_t taps, int64_t channels);

/// Transforms filter block number `block`. `bias` has one number per filter, `bias_step` apart, or is null.
void winograd_transform_filters(int64_t taps, const WinogradFilters& filters, int64_t block,
                                const float* bias, int64_t bias_step, float* transformed);

/// Windows that are worked on together. Each is a tile of the images.
int64_t winograd_windows(int64_t taps, int64_t channels);

/// Bytes of scratch, aligned to 64, that up to `windows` windows take.
int64_t winograd_scratch_size(int64_t taps, int64_t channels, int64_t windows);

/// Results of windows [window_begin, window_end), numbered through all images, and of the filters of blocks
/// [block_begin, block_end), whose transforms follow one another in `transformed`, from block 0 on.
struct WinogradTask {
  int64_t taps;
  int64_t window_begin, window_end, block_begin, block_end, filters;
  const float* transformed;
  void* scratch;
};
void winograd_max_pool(const WinogradImages& images, const WinogradTask& task, const PooledOutput& output);

}  // namespace treadle::cpu
