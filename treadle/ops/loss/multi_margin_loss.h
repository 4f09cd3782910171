/// The hinge loss of many classes (Crammer and Singer, On the Algorithmic Implementation of Multiclass
/// Kernel-Based Vector Machines, 2001, with a sum over classes).
#pragma once  // public

#include <cstdint>
#include <string>

#include "treadle/core/tensor.h"

namespace treadle {

struct MultiMarginLossOptions {
  int64_t p = 1;
  double margin = 1;
  std::string reduction = "mean";
  template <class Field>
  static void describe(Field& field) {
    field("p", &MultiMarginLossOptions::p, "the power of each distance, 1 or 2");
    field("margin", &MultiMarginLossOptions::margin, "how far the label's class must be ahead");
    field("reduction", &MultiMarginLossOptions::reduction, "mean, sum or none");
  }
};

/// loss_n = w[l]·Σ_c max(0, margin - x[n,l] + x[n,c])^p / C over the classes c other than l = labels[n].
///
/// x [N, C] floating, labels [N] i64 or i32 in [0, C), w [C] or undefined (1), which gets no gradient. "mean"
/// over the N samples and "sum" give a tensor of rank 0, "none" gives [N]. Throws ShapeError, DTypeError,
/// ValueError for p other than 1 and 2, a margin that is not finite, an unknown reduction, and for a label
/// out of range as cross_entropy() does.
TREADLE_API Tensor multi_margin_loss(const Tensor& x, const Tensor& labels, const Tensor& weight = {},
                                     const MultiMarginLossOptions& options = {});

}  // namespace treadle
