/// Filters as the columns of a matrix, in the order in which windows of channels-last images have their taps.
#pragma once

#include <algorithm>

#include "treadle/core/parallel_for.h"
#include "treadle/graph/variant.h"
#include "treadle/ops/conv2d/conv2d_geometry.h"
#include "treadle/simd/matrix_copy.h"

namespace treadle {

/// w as [tap][channel][filter], `row` floats from one channel to the next, 0 behind the filters.
inline const float* filters_as_columns(const Call& call, const Conv2dGeometry& g, int64_t row) {
  return call.kept<float>(row * g.taps(), {1}, [&](float* columns) {
    const float* w = call.input(1).as<float>();
    const bool dense = g.w.strides[3] == 1 && g.w.strides[2] == g.S && g.w.strides[1] == g.R * g.S;
    if (row > g.K) std::fill_n(columns, row * g.taps(), 0.0f);
    parallel_for(g.C, Nanoseconds{double(g.K * g.R * g.S) / 4}, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c)
        if (dense)
          cpu::transpose(g.K, g.R * g.S, w + c * g.R * g.S, g.w.strides[0], columns + c * row, g.C * row);
        else
          for (int64_t tap = 0; tap < g.R * g.S; ++tap)
            for (int64_t k = 0; k < g.K; ++k)
              columns[(tap * g.C + c) * row + k] = w[g.w.at(k, c, tap / g.S, tap % g.S)];
    });
  });
}

}  // namespace treadle
