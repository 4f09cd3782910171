/// The weight gradient of a convolution with few taps whose result is max-pooled, in SIMD instructions chosen
/// at run time: filters side by side in a vector, each choosing among the places of a pooling window.
#pragma once

#include <cstdint>

namespace treadle::cpu {

constexpr int64_t kPatchPlaces = 4;  ///< of a pooling window, at most
constexpr int64_t kPatchTaps = 9;    ///< of a filter, at most

/// Pooling windows of one image. dy and choice are [windows][filters]; `patches` holds for each window and
/// tap what lies under the tap if place 0, 1, 2 or 3 is chosen: [windows][kPatchTaps][kPatchPlaces].
struct PatchRows {
  int64_t windows, filters, places;
  const float* dy;
  const uint8_t* choice;
  const float* patches;
};

/// sums[tap][filter] += Σ dy · patch[choice], gradient_sums[filter] += Σ dy; choices that are no place count
/// as dy = 0. At least vector_floats() filters.
void add_patches(const PatchRows& rows, float* sums, float* gradient_sums);

}  // namespace treadle::cpu
