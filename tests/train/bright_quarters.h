/// A data set that a small network learns within a few steps.
#pragma once

#include <string>

#include "treadle/data/batches.h"
#include "treadle/data/dataset.h"

namespace treadle {

/// Images of 28×28 whose label is the quarter that is bright, with noise.
inline ImageDataset bright_quarters(int64_t size, uint64_t seed) {
  ImageDataset data{"quarters", {}, {1, 28, 28}, {}, {}};
  for (int i = 0; i < 10; ++i) data.classes.push_back(std::to_string(i));
  SplitMix64 random(seed);
  for (int64_t n = 0; n < size; ++n) {
    uint8_t label = uint8_t(random.below(4));
    data.labels.push_back(label);
    for (int i = 0; i < 784; ++i) {
      bool bright = (i / 28 >= 14) == (label / 2) && (i % 28 >= 14) == (label % 2);
      data.pixels.push_back(uint8_t((bright ? 128 : 0) + random.below(100)));
    }
  }
  return data;
}

}  // namespace treadle
