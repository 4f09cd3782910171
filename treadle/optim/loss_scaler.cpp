#include "treadle/optim/loss_scaler.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "treadle/core/error.h"
#include "treadle/graph/autocast.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/recording.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

constexpr int64_t kMostOptimizers = 8;

void check(const LossScalerOptions& o) {
  const bool sound = o.initial > 0 && o.growth >= 1 && o.backoff > 0 && o.backoff < 1 && o.interval >= 1 &&
                     std::isfinite(float(o.initial)) && std::isfinite(float(o.growth));
  require<ValueError>(
      sound,
      "LossScaler: initial {}, growth {}, backoff {} and interval {}; they must be above 0, at "
      "least 1, within (0, 1) and at least 1, and finite",
      o.initial, o.growth, o.backoff, o.interval);
}

/// 0 where all elements are finite, else NaN: a sum of the elements themselves might overflow.
Tensor zero_of(const Tensor& gradient) { return sum(gradient * 0.0); }

Tensor one_number(double value) { return Tensor::from(std::vector<double>{value}, {1}); }
Tensor one_count(int64_t value) { return Tensor::from(std::vector<int64_t>{value}, {1}); }

/// The number called `name`, as a tensor like `target` holds it.
double number_named(const std::vector<NamedTensor>& list, const std::string& name, const Tensor& target) {
  const auto found = std::find_if(list.begin(), list.end(), [&](auto& one) { return one.name == name; });
  require<ValueError>(found != list.end(), "the loss scaler's state has no '{}'", name);
  require<ShapeError>(found->tensor.shape() == target.shape(),
                      "the loss scaler's '{}' has shape {}, expected {}", name, found->tensor.shape(),
                      target.shape());
  require<DTypeError>(found->tensor.dtype() == target.dtype(), "the loss scaler's '{}' is {}, expected {}",
                      name, name_of(found->tensor.dtype()), name_of(target.dtype()));
  return found->tensor.to_doubles()[0];
}

}  // namespace

/// Recorded programs share it, and may outlive the scaler.
struct LossScaler::State {
  LossScalerOptions options;
  Device device;
  double factor;
  int64_t good_steps = 0, skipped_steps = 0;
  Tensor finite;                       ///< bool [kMostOptimizers]: what a replay has found
  std::function<void()> settle_later;  ///< what follows from a replay, until its findings are read

  void settle() {
    if (auto settle = std::exchange(settle_later, {})) settle();
  }

  /// As PyTorch's _amp_update_scale_, in f32.
  void follow(bool all_finite) {
    if (!all_finite) {
      factor = float(factor) * float(options.backoff);
      good_steps = 0, ++skipped_steps;
    } else if (++good_steps == options.interval) {
      const float grown = float(factor) * float(options.growth);
      if (std::isfinite(grown)) factor = grown;
      good_steps = 0;
    }
  }
};

LossScaler::LossScaler(const LossScalerOptions& options, Device device) {
  check(options);
  const Tensor finite = Tensor::zeros({kMostOptimizers}, DType::boolean, device);
  state_ = std::make_shared<State>(State{options, device, float(options.initial), 0, 0, finite, {}});
}

LossScaler::~LossScaler() = default;

/// Written before each replay, when what the replay before has found is settled.
const LossScaler::RecordedNumbers& LossScaler::numbers_in(Recording& recording) const {
  if (recorded_ && recorded_->recording == recording.number()) return *recorded_;
  recording.depends_on(life_, "a loss scaler", nullptr);
  recording.before_replay([state = state_] { state->settle(); }, {}, "the factor of a loss scaler");
  auto number = [&](bool inverse) {
    auto write = [state = state_, inverse](double* value) {
      *value = inverse ? 1 / float(state->factor) : float(state->factor);
    };
    return cast(reshape(recording.changing_numbers(1, state_->device, write), {}), DType::f32);
  };
  const NoGrad no_grad;
  const Tensor factor = number(false);
  return recorded_.emplace(RecordedNumbers{recording.number(), factor, number(true)});
}

Tensor LossScaler::scale(const Tensor& loss) const {
  require<DTypeError>(loss.defined() && (loss.dtype() == DType::f32 || loss.dtype() == DType::f64),
                      "LossScaler: the loss is {}, in which a scaled one may overflow; it must be f32 or f64",
                      loss.defined() ? name_of(loss.dtype()) : "undefined");
  if (Recording* current = recording()) return loss * numbers_in(*current).factor;
  state_->settle();
  return loss * state_->factor;
}

const LossScaler::Found* LossScaler::find(const Optimizer& optimizer) const {
  for (const Found& one : found_)
    if (one.optimizer == &optimizer) return &one;
  return nullptr;
}

void LossScaler::unscale(Optimizer& optimizer) {
  // What a recording that failed has left behind.
  std::erase_if(found_, [](const Found& one) { return one.recording != number_of_recording(); });
  require<ValueError>(!find(optimizer),
                      "LossScaler: unscale() was called twice for an optimizer; update() "
                      "comes between");
  require<ValueError>(int64_t(found_.size()) < kMostOptimizers, "LossScaler: more than {} optimizers",
                      kMostOptimizers);
  const NoGrad no_grad;
  const Autocast no_autocast(DType::f32);
  Recording* current = recording();
  if (!current) state_->settle();
  const Operand inverse =
      current ? Operand(numbers_in(*current).inverse) : Operand(1 / float(state_->factor));
  Tensor zero;
  for (Tensor parameter : optimizer.parameters()) {
    const Tensor gradient = parameter.grad();
    if (!gradient.defined()) continue;
    require<DTypeError>(size_of(gradient.dtype()) > 2,
                        "LossScaler: a gradient {} is {}, which may have overflowed; parameters stay f32 and "
                        "Autocast casts them",
                        gradient.shape(), name_of(gradient.dtype()));
    require<DeviceError>(gradient.device() == state_->device,
                         "LossScaler: a gradient is on {}, the scaler on {}", gradient.device(),
                         state_->device);
    const Tensor unscaled = mul(gradient, inverse);
    parameter.set_grad(unscaled);
    zero = zero.defined() ? zero + zero_of(unscaled) : zero_of(unscaled);
  }
  if (!zero.defined()) zero = Tensor::zeros({}, DType::f32, state_->device);
  found_.push_back({number_of_recording(), &optimizer, equal(zero, 0.0)});
}

void LossScaler::step(Optimizer& optimizer) {
  if (!find(optimizer)) unscale(optimizer);
  auto& found = const_cast<Found&>(*find(optimizer));
  require<ValueError>(!found.stepped,
                      "LossScaler: step() was called twice for an optimizer; update() comes "
                      "between");
  found.take_back = optimizer.step_where(found.finite);
  found.stepped = true;
}

Tensor LossScaler::proceeds(const Optimizer& optimizer) const {
  const Found* found = find(optimizer);
  require<ValueError>(found, "LossScaler: proceeds() was called without an unscale() or step() before");
  return found->finite;
}

void LossScaler::update() {
  require<ValueError>(!found_.empty(), "LossScaler: update() was called without a step() before");
  const auto all = std::exchange(found_, {});
  if (!recording()) {
    return state_->follow(
        std::all_of(all.begin(), all.end(), [](const Found& one) { return one.finite.item() != 0; }));
  }
  const NoGrad no_grad;
  std::vector<std::function<void()>> take_back;
  for (const Found& one : all) {
    const auto k = int64_t(take_back.size());
    copy_into(slice(state_->finite, 0, k, k + 1), reshape(one.finite, {1}));
    take_back.push_back(one.take_back);
  }
  State* state = state_.get();
  auto settle = [state, take_back] {
    const auto finite = state->finite.to_doubles();
    for (size_t k = 0; k < take_back.size(); ++k)
      if (finite[k] == 0 && take_back[k]) take_back[k]();
    state->follow(std::count(finite.begin(), finite.begin() + int64_t(take_back.size()), 0) == 0);
  };
  recording()->before_replay([state = state_, settle] { state->settle_later = settle; },
                             [state = state_] { state->settle_later = {}; }, "a loss scaler's update");
  recording()->sets_state(state_, [state = state_] { state->settle(); });
}

double LossScaler::factor() const {
  state_->settle();
  return state_->factor;
}
int64_t LossScaler::good_steps() const {
  state_->settle();
  return state_->good_steps;
}
int64_t LossScaler::skipped_steps() const {
  state_->settle();
  return state_->skipped_steps;
}

std::vector<NamedTensor> LossScaler::state() const {
  return {{"factor", one_number(factor())},
          {"good_steps", one_count(good_steps())},
          {"skipped_steps", one_count(skipped_steps())}};
}

void LossScaler::load_state(const std::vector<NamedTensor>& values) {
  const double factor = number_named(values, "factor", one_number(0));
  const auto good = int64_t(number_named(values, "good_steps", one_count(0))),
             skipped = int64_t(number_named(values, "skipped_steps", one_count(0)));
  require<ValueError>(factor > 0 && std::isfinite(float(factor)) && good >= 0 && skipped >= 0,
                      "the loss scaler's state says factor {}, {} good steps and {} skipped ones, which no "
                      "scaler has",
                      factor, good, skipped);
  state_->settle_later = {};
  state_->factor = float(factor), state_->good_steps = good, state_->skipped_steps = skipped;
}

}  // namespace treadle
