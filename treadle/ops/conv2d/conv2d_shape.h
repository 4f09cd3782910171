/// What the shape rules of convolutions share.
#pragma once

#include <algorithm>

#include "treadle/core/error.h"
#include "treadle/graph/spec.h"
#include "treadle/ops/conv2d/conv2d_options.h"
#include "treadle/ops/image_spec.h"

namespace treadle {

/// Throws ShapeError for options that make no sense.
inline void require_sound(const char* op, const Conv2dOptions& o) {
  auto between = [](int64_t least, Pair pair) {
    return std::min(pair.height, pair.width) >= least && std::max(pair.height, pair.width) <= kMostGeometry;
  };
  require<ShapeError>(between(1, o.stride), "{}: stride [{}, {}] must be from 1 to {}", op, o.stride.height,
                      o.stride.width, kMostGeometry);
  require<ShapeError>(between(1, o.dilation), "{}: dilation [{}, {}] must be from 1 to {}", op,
                      o.dilation.height, o.dilation.width, kMostGeometry);
  require<ShapeError>(between(1, o.groups), "{}: groups must be from 1 to {}, not {}", op, kMostGeometry,
                      o.groups);
  require<ShapeError>(
      between(0, {o.padding.top, o.padding.left}) && between(0, {o.padding.bottom, o.padding.right}),
      "{}: padding [{}, {}, {}, {}] must be from 0 to {}", op, o.padding.top, o.padding.left,
      o.padding.bottom, o.padding.right, kMostGeometry);
}

inline void require_rank4(const char* op, const char* name, const Shape& shape) {
  require<ShapeError>(shape.rank() == 4, "{}: {} has shape {}, expected 4 axes", op, name, shape);
}

}  // namespace treadle
