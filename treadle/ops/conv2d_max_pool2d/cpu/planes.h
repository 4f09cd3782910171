/// How x, dx and w are laid out anew for the gradients of conv2d_max_pool2d on the cpu device: in planes of
/// few channels, padding included, so that every window lies inside and a row of it is one run of floats.
#pragma once

#include <algorithm>
#include <cstring>

#include "treadle/core/parallel_for.h"
#include "treadle/ops/conv2d_max_pool2d/conv2d_max_pool2d_geometry.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/pooled_gradient.h"
#include "treadle/simd/matrix_copy.h"

namespace treadle {

/// Calls f(thread, item) for items [0, count), `threads` of them at a time; `work` says how many vectors are
/// multiplied in all: few are not worth a second thread. Of many, threads take the next as they get free; of
/// little work each keeps the same, which is then in its cache.
template <class F>
void for_each_item(int threads, int64_t count, int64_t work, F f) {
  constexpr double kVector = 0.25;  // nanoseconds
  constexpr int64_t kMuch = 1 << 23;
  if (work >= kMuch) return parallel_for_each(count, threads, f);
  const Cut cut(count, threads);
  const Nanoseconds part{kVector * double(work) / double(std::max<int64_t>(cut.parts(), 1))};
  parallel_for(cut.parts(), part, [&](int64_t begin, int64_t end) {
    for (int64_t thread = begin; thread < end; ++thread)
      for (int64_t i = cut[thread].begin; i < cut[thread].end; ++i) f(thread, i);
  });
}

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
  cpu::WindowShape window;
  cpu::WindowSteps steps;         ///< of a window's runs in a plane
  cpu::WindowSteps filter_steps;  ///< and in a filter, where runs are padded to vectors
  int64_t filter_size;            ///< of the taps of a block, in floats

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
    window = {conv.R, rows_are_runs ? 1 : conv.S, rows_are_runs ? conv.S * block_channels : block_channels};
    steps = {conv.dilation.height * width * block_channels, conv.dilation.width * block_channels};
    filter_steps.column = divide_up(window.run, lanes) * lanes;
    filter_steps.row = window.columns * filter_steps.column;
    filter_size = window.rows * filter_steps.row;
  }

  ChannelBlock block(int64_t group, int64_t index) const {
    const int64_t first = index * block_channels;
    return {group, index, group * g.conv.channels + first, std::min(block_channels, g.conv.channels - first)};
  }
  /// Where the convolution's window at (h, w) of its result begins.
  int64_t offset(int64_t h, int64_t w) const {
    return (h * g.conv.stride.height * width + w * g.conv.stride.width) * block_channels;
  }

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
    const int64_t row = filter_steps.row, step = window.columns == 1 ? block_channels : filter_steps.column;
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

/// The blocks of channels in runs that share cache lines of x, and what a thread needs to work on one.
struct BlockRuns {
  static constexpr int64_t kLineFloats = 16;

  const Planes& planes;
  int64_t length, of_group;        ///< blocks of a run, runs of a group
  int64_t block_size, plane_size;  ///< floats of a block's images, and of all

  BlockRuns(const Planes& planes, int64_t images)
      : planes(planes),
        length(std::clamp<int64_t>(kLineFloats / planes.block_channels, 1, planes.blocks)),
        of_group(divide_up(planes.blocks, length)),
        block_size(images * planes.size),
        plane_size(length * block_size + cpu::vector_floats()) {}

  int64_t count() const { return planes.g.conv.groups * of_group; }

  /// Calls f(block, which of the run) for the blocks of a run.
  template <class F>
  void for_each_block(int64_t run, F f) const {
    const int64_t first = run % of_group * length;
    for (int64_t i = 0; i < std::min(length, planes.blocks - first); ++i)
      f(planes.block(run / of_group, first + i), i);
  }

  /// Floats of [group][block][filter], and where a block's filters begin there.
  int64_t filters_size() const {
    return planes.g.conv.groups * planes.blocks * planes.g.conv.filters * planes.filter_size;
  }
  int64_t filters_of(const ChannelBlock& block) const {
    return (block.group * planes.blocks + block.index) * planes.g.conv.filters * planes.filter_size;
  }
  /// Where the taps [count, R·S] of a block's channels begin in w; the filter is one of the group's.
  int64_t taps_of(const ChannelBlock& block, int64_t filter) const {
    const Conv2dGeometry& conv = planes.g.conv;
    return conv.w.at(block.group * conv.filters + filter, block.first - block.group * conv.channels, 0, 0);
  }
};

/// Whether a variant for planes takes an image: offsets in a plane fit into 32 bits.
inline bool fits_planes(const TensorView& x, const Conv2dOptions& o) {
  constexpr int64_t kMostPlaces = int64_t(1) << 24;
  return (x.shape[2] + o.padding.top + o.padding.bottom) * (x.shape[3] + o.padding.left + o.padding.right) <
         kMostPlaces;
}

inline bool is_row_major_or_channels_last(const TensorView& view) {
  return view.contiguous() || view.channels_last();
}

/// Whether no pooling window holds places outside the convolution's result.
inline bool windows_lie_inside(const Pool2dGeometry& pool) {
  return pool.inside(pool.row(0, 0), pool.column(0, 0)) &&
         pool.inside(pool.row(pool.P - 1, pool.R - 1), pool.column(pool.Q - 1, pool.S - 1));
}

inline bool has_no_products(const Conv2dMaxPool2dGeometry& g) {
  return g.pool.y.numel() == 0 || g.conv.x.numel() == 0 || g.conv.w.numel() == 0;
}

}  // namespace treadle
