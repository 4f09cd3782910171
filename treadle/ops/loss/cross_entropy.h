/// Softmax cross-entropy with integer labels.
#pragma once  // public

#include <cstdint>
#include <string>

#include "treadle/core/tensor.h"

namespace treadle {

/// loss_n = log Σ_c e^x[n,c] - x[n, labels[n]], from x minus its maximum, so that no exponential overflows.
///
/// x [N,C] floating, labels [N] i64 or i32 in [0, C). `reduction`: "mean" over the N samples or "sum" give a
/// tensor of rank 0, "none" gives [N]. The mean over no samples is NaN. Throws ShapeError, DTypeError,
/// ValueError for an unknown reduction, and for a label out of range: at the call, on a GPU where the host
/// next waits for the device, as reading the loss does; such a sample's loss is NaN there. Of probabilities
/// [N,C] in place of labels it is the general form below.
TREADLE_API Tensor cross_entropy(const Tensor& x, const Tensor& labels,
                                 const std::string& reduction = "mean");

struct CrossEntropyOptions {
  std::string reduction = "mean";
  /// So much of each target is spread evenly over all classes, in [0, 1] (Szegedy et al., Rethinking the
  /// Inception Architecture for Computer Vision, 2016).
  double label_smoothing = 0;
  /// The label of samples that do not count.
  int64_t ignore_index = -100;

  template <class Field>
  static void describe(Field& field) {
    field("reduction", &CrossEntropyOptions::reduction, "mean, sum or none");
    field("label_smoothing", &CrossEntropyOptions::label_smoothing,
          "so much of each target is spread over all classes");
    field("ignore_index", &CrossEntropyOptions::ignore_index, "the label of samples that do not count");
  }
};

/// The general form, made of log_softmax() and nll_loss(): loss_n = -Σ_c w[c]·q[n,c]·log p[n,c], p the
/// softmax of x. The target is labels, whose class has q = 1, or, of x's shape and dtype, the probabilities
/// q. w [C], or undefined (1). "mean" divides by the sum of the weights of the labels' classes, for
/// probabilities by N. Like the above it throws ShapeError, DTypeError, ValueError; that for a smoothing
/// outside of [0, 1], too.
TREADLE_API Tensor cross_entropy(const Tensor& x, const Tensor& target, const CrossEntropyOptions& options,
                                 const Tensor& weight = {});

struct LossWithGradient {
  Tensor loss, dx;
};

/// The same loss with its gradient dx [N,C] in one pass: what backward() gives x for an upstream gradient of
/// 1, with the same bits; for reduction "none" the gradient of the sum. The loss itself has no gradient.
TREADLE_API LossWithGradient cross_entropy_with_gradient(const Tensor& x, const Tensor& labels,
                                                         const std::string& reduction = "mean");

}  // namespace treadle
