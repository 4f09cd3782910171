/// Updates of parameters in place, with PyTorch's formulas (torch.optim.SGD, Adam, AdamW).
///
/// `numbers`, where given, is a f64 tensor [2] on the parameters' device: the learning rate and the number of
/// the step, counted from 1. It takes the place of learning_rate, first_step and step in the options, with
/// the same bits as result on that device; a device reads it when the update runs, not when it is called.
///
/// The `_all` functions update any number of parameters of one dtype by one call, with the same bits as one
/// call for each. `groups` repeats the operands of the single update for each parameter: p, g and what the
/// optimiser keeps.
#pragma once  // public

#include <vector>

#include "treadle/core/tensor.h"
#include "treadle/ops/update/optimizer_options.h"

namespace treadle {

struct Op;

/// g' = g + weight_decay·p; b ← momentum·b + (1 - dampening)·g', at the first step b ← g'; p ← p -
/// learning_rate·b, or with nesterov p - learning_rate·(g' + momentum·b). Without a buffer p ← p -
/// learning_rate·g'; then momentum must be 0, else ValueError. All tensors have p's shape, dtype (floating)
/// and device; throws ShapeError, DTypeError.
TREADLE_API void sgd_update(const Tensor& parameter, const Tensor& gradient, const Tensor& momentum_buffer,
                            const SgdUpdateOptions& options, const Tensor& numbers = {});

/// m ← β1·m + (1 - β1)·g', v ← β2·v + (1 - β2)·g'², p ← p - learning_rate·m̂ / (√v̂ + ε), with m̂ = m / (1 -
/// β1^step) and v̂ = v / (1 - β2^step). Adam: g' = g + weight_decay·p. AdamW (decoupled): g' = g and p shrinks
/// by the factor 1 - learning_rate·weight_decay before. Throws ValueError for a step below 1; ShapeError,
/// DTypeError as above.
TREADLE_API void adam_update(const Tensor& parameter, const Tensor& gradient, const Tensor& first_moment,
                             const Tensor& second_moment, const AdamUpdateOptions& options,
                             const Tensor& numbers = {});

/// sgd_update of groups {p, g}. `numbers` may be left out here too.
TREADLE_API void sgd_update_all(const Tensor& numbers, const std::vector<Tensor>& groups,
                                const SgdUpdateOptions& options);
/// The op itself.
TREADLE_API const Op& sgd_update_all_op();

/// sgd_update of groups {p, g, momentum buffer}.
TREADLE_API void sgd_momentum_update_all(const Tensor& numbers, const std::vector<Tensor>& groups,
                                         const SgdUpdateOptions& options);

/// adam_update of groups {p, g, first moment, second moment}.
TREADLE_API void adam_update_all(const Tensor& numbers, const std::vector<Tensor>& groups,
                                 const AdamUpdateOptions& options);

}  // namespace treadle
