/// The gradient of a linear layer's parameters, block by block, for what follows it while it is in the cache:
/// what the variants "panels", "listed" and "split_k" of linear updates do without knowing the rule.
#pragma once

#include "treadle/graph/variant.h"
#include "treadle/ops/update/rule.h"

namespace treadle {

/// Rows of a gradient, and where they lie in the parameter: its first element and the distance between rows,
/// in elements. Rows are dense in both.
struct GradientBlock {
  bool of_bias;
  int64_t rows, columns;
  const float* gradient;
  int64_t gradient_row;
  int64_t first, row;
};

/// Is given blocks that cover the parameters, by several threads at once.
struct BlockConsumer {
  void (*take)(const void* context, const GradientBlock& block);
  const void* context;
};

/// Whether the variants take a call of a linear update, by a rule for which each parameter has `tensors`.
bool takes_panels(const Call& call, int tensors);
bool takes_lists(const Call& call, int tensors);
bool takes_split_k(const Call& call, int tensors);

/// The bits of linear_weight_gradient's variants "panels", "listed" and "split_k".
void gradient_by_panels(const Call& call, int tensors, const BlockConsumer& consumer);
void gradient_by_lists(const Call& call, int tensors, const BlockConsumer& consumer);
void gradient_by_split_k(const Call& call, int tensors, const BlockConsumer& consumer);

/// The same with this step, taken in registers; nothing is kept.
void update_by_panels(const Call& call, const DecayedStep<float>& step);
void update_by_lists(const Call& call, const DecayedStep<float>& step);

}  // namespace treadle
