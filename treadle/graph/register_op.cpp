#include "treadle/graph/register_op.h"

#include "treadle/core/error.h"
#include "treadle/graph/registry.h"

namespace treadle {

const Op& register_op(Op op) {
  require<ValueError>(!registry().contains(op.name), "an op called '{}' is already registered", op.name);
  require<ValueError>(bool(op.infer), "the op '{}' has no shape rule", op.name);
  require<ValueError>(op.compose || op.direct || !op.variants.empty(),
                      "the op '{}' has neither a body in terms of other ops nor a variant", op.name);
  Registry& all = detail::mutable_registry();
  const Op& added = all.add(std::move(op));
  all.finish();
  return added;
}

}  // namespace treadle
