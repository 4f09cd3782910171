/// 3×3 convolution and 2×2 max-pooling in one, by Winograd's F(4×4, 3×3): a tile holds the results of four
/// pooling windows, for 36 products per channel. In SIMD instructions chosen at run time.
#pragma once

#include "treadle/ops/conv2d/cpu/winograd_convolution.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/pooled_output.h"

namespace treadle::cpu {

/// Windows of [rows, columns] in an image; tile 0 of a task begins at window (row, column).
struct WindowPlaces {
  int64_t rows, columns, row, column;
};

/// Pooled results of the tiles and filters of the task, whose filters winograd_filters() has transformed; its
/// scratch is that of the convolution.
void winograd_4x4_max_pool(const WinogradImages& images, const WinogradConvolutionTask& task,
                           const WindowPlaces& windows, const PooledOutput& output);

/// Tiles of one shape, and where their windows go.
struct WinogradTilePart {
  bool narrow_rows, narrow_columns;
  int64_t tiles;
  WinogradImages images;
  WindowPlaces windows;
};

/// The same of all tiles of some images, TileGroups::kMost at most, whatever their shapes: each product is
/// made at once for the tiles that have it, so that few tiles, too, fill a register tile and read the filters
/// once. `parts` come in this order: tiles with narrow columns, whole ones, tiles with narrow rows, narrow
/// ones; absent ones have no tiles. Of the task the filters count, and its scratch.
void winograd_mixed_max_pool(const WinogradTilePart (&parts)[4], const WinogradConvolutionTask& task,
                             const PooledOutput& output);

}  // namespace treadle::cpu
