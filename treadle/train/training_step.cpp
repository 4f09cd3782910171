#include "treadle/train/training_step.h"

#include "treadle/core/error.h"
#include "treadle/graph/autocast.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/optim/clip_gradients.h"

namespace treadle {
namespace {

using Loss = std::function<Tensor(std::span<const Tensor> batch)>;

std::vector<Tensor> rows(std::span<const Tensor> batch, int64_t begin, int64_t end) {
  std::vector<Tensor> part;
  for (const Tensor& x : batch) part.push_back(slice(x, 0, begin, end));
  return part;
}

/// The loss under Autocast, and its gradients, which the scaler has multiplied.
class Gradients {
 public:
  Gradients(const Loss& loss, const StepOptions& options) : loss_(loss), options_(options) {}

  /// Leaves those of the mean over all examples, and gives it.
  Tensor of(std::span<const Tensor> batch) const {
    if (options_.parts > 1) return in_parts(batch);
    const Tensor value = loss(batch);
    backward(value);
    return value;
  }

 private:
  Tensor loss(std::span<const Tensor> batch) const {
    const Autocast scope(options_.precision);
    return loss_(batch);
  }

  void backward(const Tensor& value) const {
    options_.scaler ? options_.scaler->scale(value).backward() : value.backward();
  }

  Tensor in_parts(std::span<const Tensor> batch) const {
    const int64_t count = batch[0].shape()[0], parts = options_.parts;
    Tensor whole;
    for (int64_t i = 0; i < parts; ++i) {
      const int64_t begin = count * i / parts, end = count * (i + 1) / parts;
      if (begin == end) continue;
      const Tensor share = loss(rows(batch, begin, end)) * (double(end - begin) / double(count));
      backward(share);
      whole = whole.defined() ? whole + share.detach() : share.detach();
    }
    return whole;
  }

  const Loss& loss_;
  const StepOptions& options_;
};

void clip(Optimizer& optimizer, const StepOptions& options) {
  if (options.clip_norm > 0) clip_gradient_norm(optimizer.parameters(), options.clip_norm);
}

void update(Optimizer& optimizer, const StepOptions& options) {
  clip(optimizer, options);
  optimizer.step();
  if (options.average) options.average->update();
}

void update_scaled(Optimizer& optimizer, const StepOptions& options) {
  options.scaler->unscale(optimizer);
  clip(optimizer, options);
  options.scaler->step(optimizer);
  if (options.average) options.average->update(options.scaler->proceeds(optimizer));
  options.scaler->update();
}

}  // namespace

std::function<Tensor(std::span<const Tensor>)> training_step(Optimizer& optimizer, Loss loss,
                                                             const StepOptions& options) {
  require<ValueError>(options.parts > 0, "a batch cannot be cut into {} parts", options.parts);
  require<ValueError>(options.precision != DType::f16 || options.scaler,
                      "training in f16 needs a LossScaler, without which small gradients vanish");
  Autocast(options.precision);  // throws for others
  return [&optimizer, loss = std::move(loss), options](std::span<const Tensor> batch) {
    optimizer.zero_grad();
    const Tensor value = Gradients(loss, options).of(batch);
    options.scaler ? update_scaled(optimizer, options) : update(optimizer, options);
    return value;
  };
}

}  // namespace treadle
