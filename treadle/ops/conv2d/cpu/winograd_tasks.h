/// How Winograd's convolutions read operands, and how threads share their tiles and filters.
#pragma once

#include <algorithm>

#include "treadle/ops/conv2d/conv2d_geometry.h"
#include "treadle/ops/conv2d/cpu/convolution_tasks.h"
#include "treadle/ops/conv2d/cpu/winograd_convolution.h"
#include "treadle/ops/conv2d/cpu/winograd_operands.h"
#include "treadle/simd/matrix_copy.h"

namespace treadle {

/// Copies an operand [N,C,H,W] to channels-last.
inline const float* channels_last_copy(const Call& call, const TensorView& view) {
  const int64_t C = view.shape[1], H = view.shape[2], W = view.shape[3];
  float* copy = call.workspace<float>(view.numel());
  const float* from = view.as<float>();
  parallel_for(view.shape[0] * H, copies(W * C), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float* row = from + i / H * view.strides[0] + i % H * view.strides[2];
      if (view.strides[3] == 1)
        cpu::transpose(C, W, row, view.strides[1], copy + i * W * C, C);
      else
        copy_pixels(row, view.strides[1], view.strides[3], W, C, copy + i * W * C);
    }
  });
  return copy;
}

/// An operand [N,C,H,W] as images in `rows` × `columns` tiles each; a copy where its channels are not next to
/// one another.
inline cpu::WinogradImages winograd_images(const Call& call, const TensorView& view, Pair padding,
                                           int64_t rows, int64_t columns) {
  const int64_t C = view.shape[1], H = view.shape[2], W = view.shape[3];
  float* zeros = call.workspace<float>(C);
  std::fill_n(zeros, C, 0.0f);
  cpu::WinogradImages images{view.as<float>(),
                             C,
                             H,
                             W,
                             view.strides[0],
                             view.strides[2],
                             view.strides[3],
                             padding.height,
                             padding.width,
                             rows,
                             columns,
                             zeros};
  if (view.strides[1] == 1 || C == 1) return images;
  images.x = channels_last_copy(call, view);
  images.image_step = H * W * C, images.row_step = W * C, images.column_step = C;
  return images;
}

/// Filters of w [filters, channels, 3, 3], transformed, with the bias where the call has one.
inline const float* winograd_transformed(const Call& call, const cpu::WinogradFilters& filters,
                                         bool with_bias) {
  const int64_t size = cpu::filter_block_size(cpu::kWinogradProducts, filters.channels);
  const float* bias = with_bias ? bias_of(call) : nullptr;
  auto fill = [&](float* transformed) {
    parallel_for(filters.blocks(), copies(size), [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block)
        cpu::winograd_filters(filters, block, bias, with_bias ? bias_step(call) : 0,
                              transformed + block * size);
    });
  };
  if (with_bias) return call.kept<float>(filters.blocks() * size, {1, 2}, fill);
  return call.kept<float>(filters.blocks() * size, {1}, fill);
}

/// The same of input 1 of a convolution, with the bias of input 2.
inline const float* winograd_forward_filters(const Call& call) {
  const TensorView& w = call.input(1);
  const cpu::WinogradFilters filters{w.as<float>(), w.shape[0],   w.shape[1],  w.strides[0],
                                     w.strides[1],  w.strides[2], w.strides[3]};
  return winograd_transformed(call, filters, true);
}

/// Tiles of all images in batches that are worked on together, and blocks of filters in slices, where batches
/// are few.
struct WinogradCut {
  int64_t tiles, parts, batch_size, batches;
  Cut slices;

  /// `most`: tiles of a batch; `products`: of the call.
  WinogradCut(int64_t tiles, int64_t blocks, int64_t most, int64_t products)
      : tiles(tiles),
        parts(parts_of(products)),
        batch_size(divide_up(tiles, divide_up(tiles, most))),
        batches(divide_up(tiles, batch_size)),
        slices(blocks, divide_up(parts, batches)) {
    if (batches < parts) return;
    const int64_t wanted = divide_up(tiles, parts * kBatchesPerThread);
    batch_size =
        std::clamp(divide_up(wanted, kFewestTiles) * kFewestTiles, std::min(kFewestTiles, most), most);
    batches = divide_up(tiles, batch_size);
  }

  int64_t tasks() const { return batches * slices.parts(); }
  /// Calls f(tiles, blocks of filters) for task i.
  template <class F>
  void run_task(int64_t i, F f) const {
    const int64_t begin = batch_size * (i % batches);
    f(Range{begin, std::min(begin + batch_size, tiles)}, slices[i / batches]);
  }

  /// Calls f(part, tiles, blocks of filters) for all, on `parts` threads, which are numbered.
  template <class F>
  void for_each_task(F f) const {
    for_each_part(parts, tasks(), [&](int64_t part, int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i)
        run_task(i, [&](Range range, Range blocks) { f(part, range, blocks); });
    });
  }

 private:
  /// Threads take batches as they get free; enough of them that none waits long for another, but not so small
  /// that reading the filters counts, and whole register tiles.
  static constexpr int64_t kBatchesPerThread = 16, kFewestTiles = 2 * cpu::TileGroups::kMost;
};

}  // namespace treadle
