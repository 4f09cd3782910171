/// 3×3 convolution of stride 1 by Winograd's F(4×4, 3×3): 36 products per channel for sixteen results, where
/// sums of products take 144. In SIMD instructions chosen at run time.
#pragma once

#include <cstdint>

#include "treadle/ops/conv2d/cpu/winograd_operands.h"

namespace treadle::cpu {

/// Results of a tile in each direction, and its products.
inline constexpr int64_t kWinogradResults = 4, kWinogradProducts = 36;

/// Where results go: element (n, k, p, q) of `height` × `width` is y[n·image_step + k·filter_step +
/// p·row_step + q·column_step].
struct WinogradResults {
  float* y;
  int64_t height, width;
  int64_t image_step, filter_step, row_step, column_step;
  bool relu;
};

/// Transforms filter block number `block` to filter_block_size(kWinogradProducts, channels) floats. `bias`
/// has one number per filter, `bias_step` apart, or is null.
void winograd_filters(const WinogradFilters& filters, int64_t block, const float* bias, int64_t bias_step,
                      float* transformed);

/// Tiles that are worked on together.
int64_t winograd_tiles(int64_t channels);

/// Floats of scratch, aligned to 64 bytes, that up to `tiles` tiles take.
int64_t winograd_scratch(int64_t channels, int64_t tiles);

/// Results of tiles [tile_begin, tile_end) and of the filters of blocks [block_begin, block_end), whose
/// transforms follow one another in `transformed`, from block 0 on. Tiles [tile_end, all_tiles) follow.
struct WinogradConvolutionTask {
  bool narrow_rows, narrow_columns;  ///< of the tiles two rows, two columns at most lie inside the image
  int64_t tile_begin, tile_end, all_tiles, block_begin, block_end, filters;
  const float* transformed;
  float* scratch;
};
void winograd_convolution(const WinogradImages& images, const WinogradConvolutionTask& task,
                          const WinogradResults& results);

}  // namespace treadle::cpu
