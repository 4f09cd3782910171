#include "treadle/ops/loss/declaration/loss_body.h"

#include "treadle/ops/layout/declaration/convert.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/ops/reduce/reduce_options.h"

namespace treadle {

void reduce_terms(const Composition& call, const TensorView& terms, const LossOptions& options) {
  static const Attributes over_all = Attributes::of(ReduceOptions{});
  const TensorView& loss = call.output();
  if (options.keeps_terms()) return convert(call, terms, loss);
  const TensorView exact = loss.dtype == terms.dtype ? loss : call.scratch({}, terms.dtype);
  call.run(options.reduction == "mean" ? mean_op() : sum_op(), {terms}, {exact}, over_all);
  if (options.reduction == "batchmean")
    call.run(div_op(), {exact, number(call, options.divisor_of(terms.shape), exact.dtype)}, {exact});
  if (exact.data != loss.data) convert(call, exact, loss);
}

}  // namespace treadle
