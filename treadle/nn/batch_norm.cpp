#include "treadle/nn/batch_norm.h"

#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/cast.h"

namespace treadle {

BatchNorm::BatchNorm(const char* name, int64_t channels, const BatchNormSettings& settings)
    : name_(name), settings_(settings) {
  require<ShapeError>(channels >= 0, "{}: {} channels cannot be negative", name, channels);
  if (settings.affine) {
    weight = register_parameter("weight", full({channels}, 1));
    bias = register_parameter("bias", Tensor::zeros({channels}));
  }
  running_mean = register_buffer("running_mean", Tensor::zeros({channels}));
  running_var = register_buffer("running_var", full({channels}, 1));
  num_batches_tracked = register_buffer("num_batches_tracked", Tensor::zeros({}, DType::i64));
}

void BatchNorm::check(const Tensor& x) const {
  const Shape& shape = x.shape();
  require<ShapeError>(takes(shape.rank()), "{}: x has shape {}, expected {}", name_, shape,
                      takes(4) ? "[N, C, H, W]" : "[N, C] or [N, C, L]");
  require<ShapeError>(shape[1] == running_mean.size(0), "{}: x {} has {} channels, the layer {}", name_,
                      shape, shape[1], running_mean.size(0));
}

/// Mean and variance of half types come in f32.
void BatchNorm::follow(const BatchNormResult& batch, int64_t count) {
  const NoGrad no_grad;
  const DType dtype = running_mean.dtype();
  update_batch_statistics(running_mean, running_var, num_batches_tracked, cast(batch.mean.detach(), dtype),
                          cast(batch.variance.detach(), dtype),
                          {settings_.momentum.value_or(0), !settings_.momentum, count});
}

Tensor BatchNorm::forward(const Tensor& x) {
  check(x);
  if (!is_training())
    return batch_norm_inference(x, running_mean, running_var, weight, bias, {settings_.epsilon});
  const int64_t channels = std::max<int64_t>(x.size(1), 1), count = x.numel() / channels;
  require<ShapeError>(count > 1 || x.size(1) == 0,
                      "{}: x {} has {} elements for each channel, training takes two or more", name_,
                      x.shape(), count);
  const BatchNormResult batch = batch_norm(x, weight, bias, {settings_.epsilon});
  if (x.size(1) > 0) follow(batch, count);
  return batch.y;
}

std::string BatchNorm::describe() const {
  return fmt::format("{}({}{})", name_, running_mean.size(0), weight.defined() ? "" : ", not affine");
}

}  // namespace treadle
