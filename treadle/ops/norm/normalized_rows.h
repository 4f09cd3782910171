/// What normalisations of rows have in common, in their declarations: the check of ε, the reference and how
/// far results may be from it, the gradient.
#pragma once

#include <cmath>
#include <vector>

#include "treadle/core/error.h"
#include "treadle/graph/test_case.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {

inline void require_epsilon(const char* op, double epsilon) {
  require<ValueError>(epsilon >= 0, "{}: epsilon {} is negative or not a number", op, epsilon);
}

/// The reference: each row of `length` elements becomes (x - mean) / √(variance + ε).
inline void normalize_rows(std::vector<double>& x, int64_t length, double epsilon) {
  for (size_t first = 0; first < x.size(); first += size_t(length)) {
    double *row = &x[first], mean = 0, variance = 0;
    for (int64_t i = 0; i < length; ++i) mean += row[i] / double(length);
    for (int64_t i = 0; i < length; ++i) variance += (row[i] - mean) * (row[i] - mean) / double(length);
    const double deviation = std::sqrt(variance + epsilon);
    for (int64_t i = 0; i < length; ++i) row[i] = (row[i] - mean) / deviation;
  }
}

/// The sum of a row's elements and of their squares, and the formula; a normalised element is as large as x.
inline ErrorModel error_of_rows(int64_t length) {
  return {ErrorModel::largest_input, 2 * double(length) + 16};
}

/// n = (x - mean) / σ along the last axis, σ = √(variance + ε).
class NormalizedRows {
 public:
  NormalizedRows(const Tensor& x, double epsilon) {
    const Tensor centred = x - mean_of_rows(x);
    deviation_ = sqrt(mean_of_rows(centred * centred) + epsilon);
    n_ = centred / deviation_;
  }
  const Tensor& n() const { return n_; }
  /// dx = (dn - mean(dn) - n·mean(dn·n)) / σ.
  Tensor gradient(const Tensor& dn) const {
    return (dn - mean_of_rows(dn) - n_ * mean_of_rows(dn * n_)) / deviation_;
  }

 private:
  static Tensor mean_of_rows(const Tensor& x) { return mean(x, {-1}, true); }

  Tensor n_, deviation_;
};

}  // namespace treadle
