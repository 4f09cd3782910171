#include "treadle/nn/init.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/require_defined.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/random/random.h"

namespace treadle {
namespace {

void require_floating(const char* function, const Tensor& parameter) {
  require_defined(function, parameter);
  require<DTypeError>(is_floating(parameter.dtype()), "{}: the parameter is {}, not floating", function,
                      name_of(parameter.dtype()));
}

/// Overwrites the parameter by row-major values.
void assign(const Tensor& parameter, const std::vector<double>& values) {
  NoGrad no_grad;
  const Tensor all = Tensor::from(values, parameter.shape());
  copy_into(parameter, to(cast(all, parameter.dtype()), parameter.device()));
}

/// In deviations from the mean: the range that numbers are drawn from, and its point next to the mean.
struct Truncation {
  double low, high, nearest;

  /// Where the density is below e^-25 of that at `nearest` nothing is drawn.
  Truncation(double low, double high) : nearest(std::clamp(0., low, high)) {
    const double m = std::fabs(nearest), reach = 50 / (m + std::sqrt(m * m + 50));
    this->low = std::max(low, nearest - reach), this->high = std::min(high, nearest + reach);
  }
  /// The density over that at `nearest`.
  double share(double z) const { return std::exp(-(z - nearest) * (z + nearest) / 2); }
};

/// With mean 0; a uniform distribution within ±b has the deviation b/√3.
void fill_with_deviation(bool uniform, const Tensor& weight, double deviation, Generator& generator) {
  if (weight.numel() == 0) return;  // the fans may be 0
  const double bound = std::sqrt(3.) * deviation;
  uniform ? init_uniform(weight, -bound, bound, generator) : init_normal(weight, 0, deviation, generator);
}

void require_gain(const char* function, double gain) {
  require<ValueError>(gain >= 0 && std::isfinite(gain), "{}: the gain {} is negative or not finite", function,
                      gain);
}

void xavier(bool uniform, const Tensor& weight, double gain, int64_t groups, Generator& generator) {
  require_gain("init_xavier", gain);
  const Fans fans = fans_of(weight, groups);
  fill_with_deviation(uniform, weight, gain * std::sqrt(2 / double(fans.in + fans.out)), generator);
}

void kaiming(bool uniform, const Tensor& weight, const KaimingOptions& options, Generator& generator) {
  const double gain = calculate_gain(options.nonlinearity, options.slope);
  const Fans fans = fans_of(weight, options.groups);
  const int64_t fan = options.mode == FanMode::in ? fans.in : fans.out;
  fill_with_deviation(uniform, weight, gain / std::sqrt(double(fan)), generator);
}

double dot(const double* a, const double* b, int64_t length) {
  double sum = 0;
  for (int64_t i = 0; i < length; ++i) sum += a[i] * b[i];
  return sum;
}

/// Makes `count` vectors of `length` numbers orthonormal, each from those before it. A second pass takes off
/// what rounding left of the first.
void orthonormalize(std::vector<double>& vectors, int64_t count, int64_t length) {
  for (int64_t k = 0; k < count; ++k) {
    double* vector = &vectors[size_t(k * length)];
    for (int pass = 0; pass < 2; ++pass)
      for (int64_t before = 0; before < k; ++before) {
        const double* other = &vectors[size_t(before * length)];
        const double share = dot(vector, other, length);
        for (int64_t i = 0; i < length; ++i) vector[i] -= share * other[i];
      }
    const double norm = std::sqrt(dot(vector, vector, length));
    for (int64_t i = 0; i < length; ++i) vector[i] /= norm;
  }
}

}  // namespace

void init_uniform_fan_in(const Tensor& parameter, int64_t fan_in, Generator& generator) {
  const double bound = fan_in > 0 ? 1 / std::sqrt(double(fan_in)) : 0;
  init_uniform(parameter, -bound, bound, generator);
}

void init_constant(const Tensor& parameter, double value) {
  require_floating("init_constant", parameter);
  require<ValueError>(std::isfinite(value), "init_constant: {} is not finite", value);
  NoGrad no_grad;
  fill_(parameter, value);
}

void init_uniform(const Tensor& parameter, double low, double high, Generator& generator) {
  NoGrad no_grad;
  uniform_(parameter, low, high, generator);
}

void init_normal(const Tensor& parameter, double mean, double deviation, Generator& generator) {
  NoGrad no_grad;
  normal_(parameter, mean, deviation, generator);
}

void init_truncated_normal(const Tensor& parameter, double mean, double deviation, double low, double high,
                           Generator& generator) {
  require_floating("init_truncated_normal", parameter);
  require<ValueError>(std::isfinite(mean) && deviation > 0 && std::isfinite(deviation),
                      "init_truncated_normal: the mean {} or the deviation {} is not finite or positive",
                      mean, deviation);
  require<ValueError>(low < high, "init_truncated_normal: no numbers between {} and {}", low, high);
  const Truncation range((low - mean) / deviation, (high - mean) / deviation);
  std::vector<double> values;
  while (int64_t(values.size()) < parameter.numel()) {
    const int64_t missing = parameter.numel() - int64_t(values.size());
    const auto pairs = rand({missing, 2}, DType::f64, kCpu, generator).to_vector<double>();
    for (size_t i = 0; i < pairs.size(); i += 2) {
      const double z = range.low + pairs[i] * (range.high - range.low);
      if (pairs[i + 1] < range.share(z)) values.push_back(std::clamp(mean + deviation * z, low, high));
    }
  }
  assign(parameter, values);
}

Fans fans_of(const Tensor& weight, int64_t groups) {
  require_floating("fans_of", weight);
  const Shape& shape = weight.shape();
  require<ShapeError>(shape.rank() >= 2, "fans_of: the weight has shape {}, expected [out, in, ...]", shape);
  require<ValueError>(groups > 0 && shape[0] % groups == 0,
                      "fans_of: {} output channels do not divide into {} groups", shape[0], groups);
  int64_t field = 1;
  for (int axis = 2; axis < shape.rank(); ++axis) field *= shape[axis];
  return {shape[1] * field, shape[0] / groups * field};
}

double calculate_gain(const std::string& nonlinearity, double slope) {
  require<ValueError>(std::isfinite(slope), "calculate_gain: the slope {} is not finite", slope);
  const std::map<std::string, double> gains{{"linear", 1},
                                            {"sigmoid", 1},
                                            {"tanh", 5. / 3},
                                            {"relu", std::sqrt(2.)},
                                            {"leaky_relu", std::sqrt(2 / (1 + slope * slope))},
                                            {"selu", 0.75}};
  const auto found = gains.find(nonlinearity);
  require<ValueError>(
      found != gains.end(),
      "calculate_gain: '{}' is not known; known are: linear sigmoid tanh relu leaky_relu selu", nonlinearity);
  return found->second;
}

void init_xavier_uniform(const Tensor& weight, double gain, int64_t groups, Generator& generator) {
  xavier(true, weight, gain, groups, generator);
}

void init_xavier_normal(const Tensor& weight, double gain, int64_t groups, Generator& generator) {
  xavier(false, weight, gain, groups, generator);
}

void init_kaiming_uniform(const Tensor& weight, const KaimingOptions& options, Generator& generator) {
  kaiming(true, weight, options, generator);
}

void init_kaiming_normal(const Tensor& weight, const KaimingOptions& options, Generator& generator) {
  kaiming(false, weight, options, generator);
}

void init_orthogonal(const Tensor& weight, double gain, Generator& generator) {
  require_gain("init_orthogonal", gain);
  fans_of(weight);
  if (weight.numel() == 0) return;
  const int64_t rows = weight.size(0), columns = weight.numel() / rows;
  const int64_t count = std::min(rows, columns), length = std::max(rows, columns);
  auto vectors = randn({count, length}, DType::f64, kCpu, generator).to_vector<double>();
  orthonormalize(vectors, count, length);
  std::vector<double> values(vectors.size());
  for (int64_t i = 0; i < rows * columns; ++i) {
    const int64_t row = i / columns, column = i % columns;
    values[size_t(i)] = gain * vectors[size_t(rows <= columns ? i : column * length + row)];
  }
  assign(weight, values);
}

}  // namespace treadle
