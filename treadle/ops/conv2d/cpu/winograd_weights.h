/// The gradient of 3×3 filters of a convolution of stride 1, by Winograd's F(3×3, 4×4): 36 products for each
/// channel, filter and sixteen results, where sums of products take 144. In SIMD instructions chosen at run
/// time.
#pragma once

#include <cstdint>

#include "treadle/ops/conv2d/cpu/winograd_convolution.h"

namespace treadle::cpu {

/// dy, laid out as images are: `channels` are filters here, padding is 0, and tiles are those of x.
using WinogradGradients = WinogradImages;

/// Floats of the sums over tiles of one filter block: [product][channel][filter].
constexpr int64_t weight_sums_size(int64_t channels) {
  return kWinogradProducts * filter_product_step(channels);
}

/// Floats of scratch, aligned to 64 bytes, that up to `tiles` tiles take.
int64_t winograd_weights_scratch(int64_t channels, int64_t tiles);

/// Adds tiles [tile_begin, tile_end) to the sums of filter blocks [block_begin, block_end), which follow one
/// another in `sums`, from block `block_begin` on. Tiles [tile_end, all_tiles) follow.
struct WinogradWeightsTask {
  bool narrow_rows, narrow_columns;  ///< of the tiles two rows, two columns at most lie inside the image
  int64_t tile_begin, tile_end, all_tiles, block_begin, block_end;
  float *sums, *scratch;
};
void winograd_add_weights(const WinogradImages& images, const WinogradGradients& gradients,
                          const WinogradWeightsTask& task);

/// dw[filter][channel][3][3], row-major, of some channels and of the `filters` filters of a block, of the
/// added `slices` of its sums, `slice_step` apart. `dw` begins at the first filter of the block.
struct WinogradWeights {
  float* dw;
  int64_t channels, filters;
  const float* sums;
  int64_t slices, slice_step;
};
void winograd_make_weights(const WinogradWeights& weights, int64_t channel_begin, int64_t channel_end);

}  // namespace treadle::cpu
