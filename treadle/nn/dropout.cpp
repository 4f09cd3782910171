#include "treadle/nn/dropout.h"

#include "treadle/core/error.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/random/dropout.h"

namespace treadle {
namespace {

double checked(const char* layer, double probability) {
  require<ValueError>(probability >= 0 && probability <= 1, "{}: probability {} is outside [0, 1]", layer,
                      probability);
  return probability;
}

}  // namespace

Dropout::Dropout(double probability) : probability_(checked("Dropout", probability)) {}

/// One that drops nothing is no op: in a small transformer such took a fifth of a training step.
Tensor Dropout::forward(const Tensor& x) {
  return is_training() && probability_ > 0 ? dropout(x, probability_) : x;
}

std::string Dropout::describe() const { return fmt::format("Dropout({})", probability_); }

Dropout2d::Dropout2d(double probability) : probability_(checked("Dropout2d", probability)) {}

Tensor Dropout2d::forward(const Tensor& x) {
  require<ShapeError>(x.rank() >= 2, "Dropout2d: x has shape {}, expected [N, C, ...]", x.shape());
  if (!is_training() || probability_ == 0) return x;
  Shape channels = Dims::filled(x.rank(), 1);
  channels[0] = x.size(0), channels[1] = x.size(1);
  return x * dropout(full(channels, 1, x.dtype(), x.device()), probability_);
}

std::string Dropout2d::describe() const { return fmt::format("Dropout2d({})", probability_); }

}  // namespace treadle
