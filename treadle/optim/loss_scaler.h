/// LossScaler: keeps the gradients of f16 from vanishing, by a factor that follows what they can bear.
///
///     LossScaler scaler;
///     optimizer.zero_grad();
///     Tensor loss;
///     {
///       Autocast scope(DType::f16);
///       loss = cross_entropy(model(x), labels);
///     }
///     scaler.scale(loss).backward();
///     scaler.unscale(optimizer);  // only where gradients are looked at before the step, as clipping does
///     scaler.step(optimizer);
///     scaler.update();
#pragma once  // public

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "treadle/optim/optimizer.h"

namespace treadle {

struct LossScalerOptions {
  double initial = 65536;   ///< the first factor
  double growth = 2;        ///< of the factor, after `interval` good steps in a row
  double backoff = 0.5;     ///< of the factor, after a step whose gradients were not finite
  int64_t interval = 2000;  ///< steps
};

/// Multiplies the loss by a factor, and divides the gradients by it. A step whose gradients are not all
/// finite is left out as a whole: parameters, what the optimizer keeps, its counts and its schedule stay as
/// they were, and the factor shrinks. Factors are numbers of f32. Micikevicius et al., Mixed Precision
/// Training, 2018; PyTorch's GradScaler.
///
/// In a compiled function each replay does the same with the factor of that time, and what it has left out is
/// known when the call returns. There may be a few optimizers; one call of update() follows their steps.
class TREADLE_API LossScaler {
 public:
  /// Throws ValueError unless initial > 0, growth >= 1, 0 < backoff < 1, interval >= 1, all finite in f32.
  explicit LossScaler(const LossScalerOptions& options = {}, Device device = kCpu);
  LossScaler(const LossScaler&) = delete;
  LossScaler& operator=(const LossScaler&) = delete;
  ~LossScaler();

  /// loss · factor. Throws DTypeError unless it is f32 or f64, as Autocast leaves losses.
  Tensor scale(const Tensor& loss) const;
  /// Divides the gradients of the optimizer's parameters by the factor, and looks whether they are finite.
  /// Throws ValueError where update() has not followed the last time; DTypeError for gradients of half types,
  /// DeviceError for those on another device than the scaler's.
  void unscale(Optimizer& optimizer);
  /// The optimizer's step, unless a gradient is not finite; unscales where nobody has.
  void step(Optimizer& optimizer);
  /// Whether the gradients of the optimizer were finite, since unscale(): a bool of rank 0, for what follows
  /// a step. Throws ValueError without an unscale() or step() before.
  Tensor proceeds(const Optimizer& optimizer) const;
  /// Makes the factor what it will be. Throws ValueError without an unscale() or step() before.
  void update();

  double factor() const;
  /// Since the factor last changed.
  int64_t good_steps() const;
  /// Steps that were left out so far.
  int64_t skipped_steps() const;

  /// "factor" (f64), "good_steps", "skipped_steps" (i64), each [1].
  std::vector<NamedTensor> state() const;
  /// Restores what state() gave. Throws ValueError, ShapeError, DTypeError; then nothing was changed.
  void load_state(const std::vector<NamedTensor>& state);

 private:
  struct State;
  /// What was found of an optimizer's gradients since update().
  struct Found {
    uint64_t recording;  ///< 0: none
    const Optimizer* optimizer;
    Tensor finite;  ///< bool, rank 0
    bool stepped = false;
    std::function<void()> take_back = {};  ///< of a recorded step
  };
  /// The factor and its inverse as the function that is recorded sees them.
  struct RecordedNumbers {
    uint64_t recording;
    Tensor factor, inverse;
  };

  const RecordedNumbers& numbers_in(Recording& recording) const;
  const Found* find(const Optimizer& optimizer) const;

  std::shared_ptr<State> state_;
  std::vector<Found> found_;
  mutable std::optional<RecordedNumbers> recorded_;
  std::shared_ptr<const int> life_ = std::make_shared<const int>();  ///< expires with the scaler
};

}  // namespace treadle
