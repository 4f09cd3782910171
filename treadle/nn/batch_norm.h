/// Batch normalisation with running statistics.
#pragma once  // public

#include <optional>

#include "treadle/nn/module.h"
#include "treadle/ops/norm/batch_norm.h"

namespace treadle {

struct BatchNormSettings {
  double epsilon = 1e-5;
  std::optional<double> momentum = 0.1;  ///< none: running statistics are the means of all batches
  bool affine = true;                    ///< whether there are weight and bias
};

/// Each channel of x [N, C, …] brought to mean 0 and variance 1, then · weight + bias: both [channels], 1 and
/// 0 at first. In training mean and variance are those of the batch, and move running_mean and running_var,
/// by the unbiased variance; in evaluation those two are used. Buffers are called as PyTorch's. Throws
/// ShapeError for another number of channels or axes, and in training for a single element of each channel;
/// ValueError as the ops do.
class TREADLE_API BatchNorm : public Module {
 public:
  Tensor weight, bias;
  Tensor running_mean, running_var, num_batches_tracked;

  std::string describe() const override;

 protected:
  BatchNorm(const char* name, int64_t channels, const BatchNormSettings& settings);
  Tensor forward(const Tensor& x) override;
  virtual bool takes(int rank) const = 0;

 private:
  void check(const Tensor& x) const;
  void follow(const BatchNormResult& batch, int64_t count);

  const char* name_;
  BatchNormSettings settings_;
};

/// Of x [N, C] or [N, C, L].
class TREADLE_API BatchNorm1d final : public BatchNorm {
 public:
  explicit BatchNorm1d(int64_t channels, const BatchNormSettings& settings = {})
      : BatchNorm("BatchNorm1d", channels, settings) {}

 protected:
  bool takes(int rank) const override { return rank == 2 || rank == 3; }
};

/// Of images [N, C, H, W].
class TREADLE_API BatchNorm2d final : public BatchNorm {
 public:
  explicit BatchNorm2d(int64_t channels, const BatchNormSettings& settings = {})
      : BatchNorm("BatchNorm2d", channels, settings) {}

 protected:
  bool takes(int rank) const override { return rank == 4; }
};

}  // namespace treadle
