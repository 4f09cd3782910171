/// NetworkBounds: a network's loss and gradients in double, and how far rounding in f32 may take them away.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "treadle/nn/module.h"

namespace treadle {

/// Numbers, and how far from each what f32 makes of it may be.
struct Bounded {
  std::vector<double> values, errors;
};

/// A layer with weights, and what follows it.
struct NetworkStage {
  std::string name;     ///< of its parameters: name.weight, name.bias
  bool convolves;       ///< else it is linear, over the flattened input
  int64_t padding = 0;  ///< of the convolution
  bool pools = false;   ///< by windows of 2×2
  bool rectifies = false;
};

/// An error analysis that runs beside the computation: each rounding is bounded where it happens, and carried
/// on by the layers behind. Where the error decides which of a window's elements is the largest, or on which
/// side of zero one lies, the gradient may go either way. A sum of K products rounds like a random walk: it
/// is off by 8·√K units of the sum of absolute products but for one in 10^13 (Higham and Mary, A New Approach
/// to Probabilistic Rounding Error Analysis, 2019); in convolutions times `growth`, the largest of their
/// variants.
class NetworkBounds {
 public:
  NetworkBounds(std::vector<NetworkStage> stages, double growth)
      : stages_(std::move(stages)), growth_(growth) {}

  /// The logits at these parameters.
  void evaluate(const std::vector<NamedTensor>& parameters, const Tensor& images);
  /// These, the mean cross entropy and its gradients.
  void analyse(const std::vector<NamedTensor>& parameters, const Tensor& images, const Tensor& labels);
  double loss() const { return loss_; }
  double loss_error() const { return loss_error_; }
  const Bounded& logits() const { return logits_; }
  const Bounded& gradient(const std::string& parameter) const { return gradients_.at(parameter); }

 private:
  /// A layer's product three times: of the values, of their absolute values, and of these with the errors
  /// added.
  struct Layer {
    Tensor x[3], w[3], z[3];
  };
  void run_layer(const NetworkStage& stage, const Bounded& x, const Shape& shape);
  Bounded behind(const NetworkStage& stage, const Layer& layer, const Bounded& z);
  Bounded at_layer(const NetworkStage& stage, const Layer& layer, const Bounded& z, const Bounded& dy) const;
  Bounded loss_gradient(const Bounded& logits, const Tensor& labels);
  Bounded gradients_of(const NetworkStage& stage, Layer& layer, const Bounded& dz);
  double rounding(const NetworkStage& stage, int64_t terms) const;

  std::vector<NetworkStage> stages_;
  double growth_;
  std::map<std::string, Tensor> parameters_;
  std::vector<Layer> layers_;
  std::vector<Bounded> sums_;  ///< of each layer, with its bias
  double loss_ = 0, loss_error_ = 0;
  Bounded logits_;
  std::map<std::string, Bounded> gradients_;
};

/// Those of known models, by name.
std::vector<NetworkStage> stages_of(const std::string& model);

/// The largest error growth of the variants that a program on `cpu` may choose.
double largest_growth();

/// Fails where logits are farther from those of the network in double than rounding takes them.
void expect_logits(const std::string& model, const Module& module, const Tensor& images,
                   const std::vector<float>& logits);

}  // namespace treadle
