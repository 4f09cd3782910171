/// How x, dx and w are laid out anew for the gradients of conv2d_max_pool2d on the cpu device: in planes of
/// few channels, padding included, so that every window lies inside and a row of it is one run of floats.
#pragma once

#include <algorithm>
#include <cstring>

#include "treadle/cpu/matrix_copy.h"
#include "treadle/cpu/pooled_gradient.h"
#include "treadle/ops/conv2d_max_pool2d_geometry.h"

namespace treadle {

/// Some channels of one group: those of a plane.
struct ChannelBlock {
  int64_t group, index;  ///< the group, and the number of the block in it
  int64_t first, count;  ///< channels of x
};

/// Planes [height, width, channels of a block]. Blocks hold a vector of channels each, or all channels of the
/// group where those are few: then vectors run along the taps of a row too.
struct Planes {
  Conv2dMaxPool2dGeometry g;
  int64_t block_channels, blocks;         ///< channels of a block, blocks of a group
  int64_t height, width, size;            ///< places down and across, floats
  int64_t covered_height, covered_width;  ///< of x, from its first row and column
  cpu::FilterWindow window;

  explicit Planes(const Conv2dMaxPool2dGeometry& geometry) : g(geometry) {
    const Conv2dGeometry& conv = g.conv;
    const int64_t lanes = cpu::vector_floats();
    block_channels = conv.channels < 2 * lanes ? conv.channels : lanes;
    blocks = (conv.channels + block_channels - 1) / block_channels;
    height = (conv.P - 1) * conv.stride.height + (conv.R - 1) * conv.dilation.height + 1;
    width = (conv.Q - 1) * conv.stride.width + (conv.S - 1) * conv.dilation.width + 1;
    size = height * width * block_channels;
    covered_height = std::clamp<int64_t>(height - conv.padding.height, 0, conv.H);
    covered_width = std::clamp<int64_t>(width - conv.padding.width, 0, conv.W);
    const bool rows_are_runs = conv.dilation.width == 1;
    window.rows = conv.R, window.columns = rows_are_runs ? 1 : conv.S;
    window.row_step = conv.dilation.height * width * block_channels;
    window.column_step = conv.dilation.width * block_channels;
    window.run = rows_are_runs ? conv.S * block_channels : block_channels;
  }

  ChannelBlock block(int64_t group, int64_t index) const {
    const int64_t first = index * block_channels;
    return {group, index, group * g.conv.channels + first, std::min(block_channels, g.conv.channels - first)};
  }
  /// Where the convolution's window at (h, w) of its result begins.
  int64_t offset(int64_t h, int64_t w) const {
    return (h * g.conv.stride.height * width + w * g.conv.stride.width) * block_channels;
  }
  int64_t filter_size() const { return window.size(); }

  /// Calls copy(rows, place in the plane, offset in x) for the places of x that a plane covers: rows of
  /// places, all at once where they follow one another in both.
  template <class Copy>
  void for_each_covered_row(const ChannelBlock& block, int64_t n, Copy copy) const {
    const Conv2dGeometry& conv = g.conv;
    const bool whole = width == conv.W && covered_width == conv.W;
    const int64_t rows = whole ? covered_height : 1;
    for (int64_t h = 0; h < covered_height && covered_width > 0; h += rows)
      copy(rows * covered_width, ((h + conv.padding.height) * width + conv.padding.width) * block_channels,
           conv.x.at(n, block.first, h, 0));
  }
  bool channels_adjoin() const { return g.conv.x.strides[1] == 1 || g.conv.C == 1; }

  /// Copies the block's channels of image n; the padding is left as it is.
  void gather(const ChannelBlock& block, int64_t n, const float* x, float* plane) const {
    for_each_covered_row(block, n, [&](int64_t places, int64_t to, int64_t from) {
      if (!channels_adjoin())
        cpu::transpose(block.count, places, x + from, g.conv.x.strides[1], plane + to, block_channels);
      else if (block.count == g.conv.C)
        std::memcpy(plane + to, x + from, size_t(places * block.count) * sizeof(float));
      else
        cpu::copy_rows(places, block.count, x + from, g.conv.C, plane + to, block_channels);
    });
  }

  /// The reverse; places that no window covers become 0.
  void scatter(const ChannelBlock& block, int64_t n, const float* plane, float* dx) const {
    zero_uncovered(block, n, dx);
    for_each_covered_row(block, n, [&](int64_t places, int64_t from, int64_t to) {
      if (!channels_adjoin())
        cpu::transpose(places, block.count, plane + from, block_channels, dx + to, g.conv.x.strides[1]);
      else if (block.count == g.conv.C)
        std::memcpy(dx + to, plane + from, size_t(places * block.count) * sizeof(float));
      else
        cpu::copy_rows(places, block.count, plane + from, block_channels, dx + to, g.conv.C);
    });
  }

  /// Calls copy(columns, offset in a filter's window, step there, offset in its taps [count, R·S]) for rows
  /// of taps, all at once where they follow one another in the window.
  template <class Copy>
  void for_each_tap_row(Copy copy) const {
    const Conv2dGeometry& conv = g.conv;
    const int64_t row = filter_size() / conv.R, step = window.columns == 1 ? block_channels : row / conv.S;
    const int64_t rows = row == conv.S * step ? conv.R : 1;
    for (int64_t r = 0; r < conv.R; r += rows) copy(rows * conv.S, r * row, step, r * conv.S);
  }

  /// Taps [count, R·S] of one filter → its window.
  void gather_taps(const ChannelBlock& block, const float* taps, float* filter) const {
    const int64_t all = g.conv.R * g.conv.S;
    for_each_tap_row([&](int64_t columns, int64_t to, int64_t step, int64_t from) {
      cpu::transpose(block.count, columns, taps + from, all, filter + to, step);
    });
  }
  /// The reverse.
  void scatter_taps(const ChannelBlock& block, const float* filter, float* taps) const {
    const int64_t all = g.conv.R * g.conv.S;
    for_each_tap_row([&](int64_t columns, int64_t from, int64_t step, int64_t to) {
      cpu::transpose(columns, block.count, filter + from, step, taps + to, all);
    });
  }

 private:
  void zero_uncovered(const ChannelBlock& block, int64_t n, float* dx) const {
    const Conv2dGeometry& conv = g.conv;
    if (covered_height == conv.H && covered_width == conv.W) return;
    for (int64_t c = block.first; c < block.first + block.count; ++c)
      for (int64_t h = 0; h < conv.H; ++h)
        for (int64_t w = h < covered_height ? covered_width : 0; w < conv.W; ++w)
          dx[conv.x.at(n, c, h, w)] = 0;
  }
};

}  // namespace treadle
