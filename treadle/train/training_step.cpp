#include "treadle/train/training_step.h"

#include "treadle/core/error.h"
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

/// Leaves the gradients of the mean over all examples, and gives it.
Tensor backward_in_parts(const Loss& loss, std::span<const Tensor> batch, int64_t parts) {
  const int64_t count = batch[0].shape()[0];
  Tensor whole;
  for (int64_t i = 0; i < parts; ++i) {
    const int64_t begin = count * i / parts, end = count * (i + 1) / parts;
    if (begin == end) continue;
    const Tensor share = loss(rows(batch, begin, end)) * (double(end - begin) / double(count));
    share.backward();
    whole = whole.defined() ? whole + share.detach() : share.detach();
  }
  return whole;
}

Tensor backward(const Loss& loss, std::span<const Tensor> batch, int64_t parts) {
  if (parts > 1) return backward_in_parts(loss, batch, parts);
  const Tensor value = loss(batch);
  value.backward();
  return value;
}

}  // namespace

std::function<Tensor(std::span<const Tensor>)> training_step(Optimizer& optimizer, Loss loss,
                                                             const StepOptions& options) {
  require<ValueError>(options.parts > 0, "a batch cannot be cut into {} parts", options.parts);
  return [&optimizer, loss = std::move(loss), options](std::span<const Tensor> batch) {
    optimizer.zero_grad();
    const Tensor value = backward(loss, batch, options.parts);
    if (options.clip_norm > 0) clip_gradient_norm(optimizer.parameters(), options.clip_norm);
    optimizer.step();
    if (options.average) options.average->update();
    return value;
  };
}

}  // namespace treadle
