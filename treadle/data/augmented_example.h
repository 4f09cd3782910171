/// What an augmentation is given: an example to change, and random numbers that belong to it alone.
#pragma once  // public

#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>

#include "treadle/core/shape.h"
#include "treadle/data/batches.h"

namespace treadle {

/// An example's values, row-major: pixel/255 of an image [C,H,W], or numbers of any shape.
struct AugmentedExample {
  Shape shape;
  float* values;
  float* room;  ///< for as many values, of no meaning

  int64_t channels() const { return shape[0]; }
  int64_t height() const { return shape[1]; }
  int64_t width() const { return shape[2]; }
  int64_t plane() const { return shape[1] * shape[2]; }
  /// What was written to `room` becomes the example.
  void take_room() { std::swap(values, room); }
};

/// The random numbers of one augmentation of one example, which depend on nothing else than the key.
class AugmentationRandom {
 public:
  explicit AugmentationRandom(uint64_t key) : bits_(key) {}

  /// In [0, 1), of 53 bits.
  double uniform() { return double(bits_.next() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  bool chance(double probability) { return uniform() < probability; }
  /// In [0, bound).
  int64_t below(int64_t bound) { return int64_t(bits_.below(uint64_t(bound))); }
  /// Of the distribution Beta(alpha, alpha), in [0, 1].
  double beta(double alpha) {
    const double a = log_gamma_variate(alpha), b = log_gamma_variate(alpha);
    return 1 / (1 + std::exp(b - a));
  }

 private:
  /// Box and Muller.
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
  /// ln of a variate of Gamma(alpha, 1), as those of a small alpha are too small for a double: Marsaglia and
  /// Tsang, A Simple Method for Generating Gamma Variables, 2000, with their step from alpha + 1 to alpha.
  double log_gamma_variate(double alpha) {
    if (alpha < 1) {
      const double larger = log_gamma_variate(alpha + 1);
      return larger + std::log(1 - uniform()) / alpha;
    }
    const double d = alpha - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    for (;;) {
      const double x = normal(), root = 1 + c * x;
      if (root <= 0) continue;
      const double v = root * root * root;
      if (std::log(1 - uniform()) < x * x / 2 + d - d * v + d * std::log(v)) return std::log(d * v);
    }
  }

  SplitMix64 bits_;
};

}  // namespace treadle
