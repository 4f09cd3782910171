/// Loops over f32 elements that belong to channels, in SIMD instructions chosen at run time. One call runs on
/// the calling thread over a piece that is small enough to stay in its cache.
#pragma once

#include <cstdint>

namespace treadle::cpu {

/// Rows of channels that lie side by side (channels-last, or no spatial axes), or planes of `places` elements
/// that each belong to one channel, channel after channel (one image). Arrays by channel have an element for
/// each.
struct ChannelPiece {
  bool planes;
  int64_t rows, channels, places;  ///< rows: 1 for planes; places: 1 for rows

  int64_t size() const { return rows * channels * places; }
  /// Elements of each channel.
  int64_t count() const { return rows * places; }
};

/// sums[c] += Σ (x - origin[c]).
void add_distances(const ChannelPiece& piece, const float* x, const float* origin, float* sums);
/// sums[c] += Σ (x - origin[c])².
void add_squares(const ChannelPiece& piece, const float* x, const float* origin, float* sums);

/// What y = (x - mean)·scale + shift + residual reads besides x; residual may be null.
struct Normalization {
  const float *mean, *scale, *shift, *residual;
  bool relu;
};
void normalize(const ChannelPiece& piece, const Normalization& by, const float* x, float* y);

/// The gradient's operands: dz = dy where y > 0. Where y is null, it is what normalize() makes with mean,
/// scale and shift, to the bit, or dz is dy where these are null, too.
struct NormalizedGradient {
  const float *x, *dy, *y, *mean, *scale, *shift;

  /// The operands of elements from number `first` on.
  NormalizedGradient from(int64_t first) const {
    return {x + first, dy + first, y ? y + first : y, mean, scale, shift};
  }
};
/// sums[c] += Σ dz, products[c] += Σ dz·(x - mean).
void add_gradient_sums(const ChannelPiece& piece, const NormalizedGradient& of, float* sums, float* products);
/// dx = (dz - offset[c] - (x - mean)·slope[c])·scale[c]; dz is written, too, where it is not null.
void write_gradient(const ChannelPiece& piece, const NormalizedGradient& of, const float* offset,
                    const float* slope, const float* scale, float* dx, float* dz);

}  // namespace treadle::cpu
