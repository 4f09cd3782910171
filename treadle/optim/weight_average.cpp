#include "treadle/optim/weight_average.h"

#include <algorithm>

#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/pointwise/pointwise.h"

namespace treadle {

WeightAverage::WeightAverage(const Module& model, double decay)
    : values_(model.named_parameters()), decay_(decay) {
  require<ValueError>(decay >= 0 && decay < 1, "the decay of an average of weights is {}, not within [0, 1)",
                      decay);
  for (const NamedTensor& buffer : model.named_buffers()) values_.push_back(buffer);
  for (const auto& [name, value] : values_) shadows_.push_back({name, clone(value.detach())});
}

void WeightAverage::update(const Tensor& proceeds) {
  NoGrad no_grad;
  for (size_t i = 0; i < values_.size(); ++i) {
    const Tensor shadow = shadows_[i].tensor, value = values_[i].tensor.detach();
    const bool averages = is_floating(value.dtype());
    const Tensor next = averages ? shadow + (value - shadow) * (1 - decay_) : value;
    copy_into(shadow, proceeds.defined() ? where(proceeds, next, shadow) : next);
  }
}

void WeightAverage::swap() {
  NoGrad no_grad;
  for (size_t i = 0; i < values_.size(); ++i) {
    const Tensor shadow = shadows_[i].tensor, value = values_[i].tensor.detach();
    const Tensor before = clone(value);
    copy_into(value, shadow);
    copy_into(shadow, before);
  }
}

void WeightAverage::load_shadows(const std::vector<NamedTensor>& saved) {
  std::vector<Tensor> found;
  for (const auto& [name, shadow] : shadows_) {
    auto one = std::find_if(saved.begin(), saved.end(), [&](auto& other) { return other.name == name; });
    require<ValueError>(one != saved.end(), "the average of weights has no '{}'", name);
    require<ShapeError>(one->tensor.shape() == shadow.shape(),
                        "the average of '{}' has shape {}, expected {}", name, one->tensor.shape(),
                        shadow.shape());
    require<DTypeError>(one->tensor.dtype() == shadow.dtype(), "the average of '{}' is {}, expected {}", name,
                        name_of(one->tensor.dtype()), name_of(shadow.dtype()));
    found.push_back(one->tensor);
  }
  NoGrad no_grad;
  for (size_t i = 0; i < found.size(); ++i)
    copy_into(shadows_[i].tensor, to(found[i], shadows_[i].tensor.device()));
}

}  // namespace treadle
