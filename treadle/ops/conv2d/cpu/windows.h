/// The windows of a convolution over channels-last images, as rows of a matrix and back.
#pragma once

#include <algorithm>

#include "treadle/ops/conv2d/conv2d_geometry.h"
#include "treadle/simd/matrix_copy.h"

namespace treadle {

/// Of all windows, which then are shared: by the filters' columns, or by parts of the filters.
inline constexpr int64_t kFewWindowFloats = 512 * 1024;

/// A convolution's windows of all images, numbered through.
struct Windows {
  Conv2dGeometry g;

  int64_t count() const { return g.N * g.P * g.Q; }
  /// Taps of one channel.
  int64_t places() const { return g.R * g.S; }

  /// Whether x itself has the windows as rows.
  bool lie_in_x() const {
    const bool rows_follow = g.x.strides[2] == g.W * g.x.strides[3] || g.H == 1,
               images_follow = g.x.strides[0] == g.H * g.W * g.x.strides[3] || g.N == 1;
    return g.R == 1 && g.S == 1 && g.stride == Pair(1) && g.P == g.H && g.Q == g.W && g.padding.height == 0 &&
           g.padding.width == 0 && rows_follow && images_follow;
  }

  /// Windows [begin, end) of x as rows [tap][channel].
  void unfold(const float* x, int64_t begin, int64_t end, float* rows) const {
    for (int64_t i = begin; i < end; ++i) {
      const Place at = place(i);
      for (int64_t r = 0; r < g.R; ++r, rows += g.S * g.C) unfold_row(x, at.n, g.row(at.p, r), at.q, rows);
    }
  }

  /// The same as rows [channel][tap], as filters lie in w; with scratch for one of them.
  void unfold_as_filters(const float* x, int64_t begin, int64_t end, float* rows, float* scratch) const {
    if (places() == 1) return unfold(x, begin, end, rows);
    for (int64_t i = begin; i < end; ++i, rows += g.taps()) {
      unfold(x, i, i + 1, scratch);
      cpu::transpose(places(), g.C, scratch, g.C, rows, places());
    }
  }

  /// The reverse for some channels of all windows: dx = the sum of what lies on each place. `rows` are those
  /// of all channels, scratch is for one of them.
  void fold_filters(const float* rows, Range channels, float* dx, float* scratch) const {
    const int64_t count_of = channels.size();
    for (int64_t n = 0; n < g.N; ++n)
      for (int64_t h = 0; h < g.H; ++h)
        for (int64_t w = 0; w < g.W; ++w) std::fill_n(dx + g.x.at(n, channels.begin, h, w), count_of, 0.0f);
    for (int64_t i = 0; i < count(); ++i, rows += g.taps()) {
      const Place at = place(i);
      cpu::transpose(count_of, places(), rows + channels.begin * places(), places(), scratch, count_of);
      const float* from = scratch;
      for (int64_t r = 0; r < g.R; ++r)
        for (int64_t s = 0; s < g.S; ++s, from += count_of) {
          const int64_t h = g.row(at.p, r), w = g.column(at.q, s);
          if (!g.inside(h, w)) continue;
          float* const to = dx + g.x.at(at.n, channels.begin, h, w);
          for (int64_t c = 0; c < count_of; ++c) to[c] += from[c];
        }
    }
  }

 private:
  struct Place {
    int64_t n, p, q;
  };
  Place place(int64_t window) const { return {window / (g.Q * g.P), window / g.Q % g.P, window % g.Q}; }

  void unfold_row(const float* x, int64_t n, int64_t h, int64_t q, float* row) const {
    if (h < 0 || h >= g.H) return void(std::fill_n(row, g.S * g.C, 0.0f));
    const float* const from = x + n * g.x.strides[0] + h * g.x.strides[2];
    const int64_t first = g.column(q, 0), last = g.column(q, g.S - 1);
    if (first >= 0 && last < g.W && g.dilation.width == 1 && g.x.strides[3] == g.C)
      return void(std::copy_n(from + first * g.C, g.S * g.C, row));
    for (int64_t s = 0; s < g.S; ++s, row += g.C) {
      const int64_t w = g.column(q, s);
      if (w >= 0 && w < g.W)
        std::copy_n(from + w * g.x.strides[3], g.C, row);
      else
        std::fill_n(row, g.C, 0.0f);
    }
  }
};

}  // namespace treadle
