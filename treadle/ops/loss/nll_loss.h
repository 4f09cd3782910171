/// The negative log-likelihood of labels.
#pragma once  // public

#include <cstdint>
#include <string>

#include "treadle/core/tensor.h"

namespace treadle {

struct NllLossOptions {
  std::string reduction = "mean";
  int64_t ignore_index = -100;
  template <class Field>
  static void describe(Field& field) {
    field("reduction", &NllLossOptions::reduction, "mean, sum or none");
    field("ignore_index", &NllLossOptions::ignore_index, "label of samples that do not count");
  }
};

/// loss_n = -w[labels[n]]·x[n, labels[n]], x = ln p, as log_softmax() gives it; 0 for the label
/// `ignore_index`.
///
/// x [N, C] floating, labels [N] i64 or i32 in [0, C), w [C] or undefined (1), which gets no gradient. "mean"
/// divides the sum by that of the samples' weights, NaN where there are none, and gives a tensor of rank 0 as
/// "sum" does, "none" gives [N]. Throws ShapeError, DTypeError, ValueError for an unknown reduction, and for
/// a label out of range as cross_entropy() does.
TREADLE_API Tensor nll_loss(const Tensor& x, const Tensor& labels, const Tensor& weight = {},
                            const NllLossOptions& options = {});

}  // namespace treadle
