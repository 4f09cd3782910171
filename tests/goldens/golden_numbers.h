/// The numbers that goldens are made from, by the hash that numbers_by_hash.py documents.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "treadle/core/tensor.h"

namespace treadle::goldens {

inline uint32_t mix(uint32_t seed, uint32_t index) {
  uint32_t x = index * 0x9E3779B9u + seed * 0x85EBCA6Bu + 0x165667B1u;
  x ^= x >> 16;
  x *= 0x7FEB352Du;
  x ^= x >> 15;
  x *= 0x846CA68Bu;
  return x ^ (x >> 16);
}

/// In [0, 1), exact.
inline float uniform(uint32_t seed, uint32_t index) { return float(mix(seed, index) >> 8) * 0x1p-24f; }

/// In [-1, 1), exact.
inline float signed_uniform(uint32_t seed, uint32_t index) { return 2 * uniform(seed, index) - 1; }

/// scale · signed_uniform, rounded once.
inline Tensor signed_tensor(uint32_t seed, const Shape& shape, float scale = 1) {
  std::vector<float> values(size_t(shape.numel()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = signed_uniform(seed, uint32_t(i)) * scale;
  return Tensor::from(values, shape);
}

inline Tensor uniform_tensor(uint32_t seed, const Shape& shape) {
  std::vector<float> values(size_t(shape.numel()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = uniform(seed, uint32_t(i));
  return Tensor::from(values, shape);
}

inline Tensor label_tensor(uint32_t seed, int64_t count, int64_t classes) {
  std::vector<int64_t> values;
  for (int64_t n = 0; n < count; ++n) values.push_back(mix(seed, uint32_t(n)) % uint32_t(classes));
  return Tensor::from(values, {count});
}

/// L2 norm and four projections of row-major values.
inline std::vector<double> measures(const std::vector<double>& values) {
  std::vector<double> result(5);
  for (size_t i = 0; i < values.size(); ++i) {
    result[0] += values[i] * values[i];
    for (uint32_t k = 0; k < 4; ++k)
      result[k + 1] += values[i] * double(signed_uniform(3000 + k, uint32_t(i)));
  }
  result[0] = std::sqrt(result[0]);
  return result;
}
inline std::vector<double> measures(const Tensor& tensor) { return measures(tensor.to_doubles()); }

/// Rounding errors of f32 sums of `terms` products add up like a random walk: √terms units of 2^-24 of the
/// scale. Eight standard deviations are allowed.
inline double tolerance(double terms, double scale) { return 8 * std::sqrt(terms) * 0x1p-24 * scale; }

}  // namespace treadle::goldens
