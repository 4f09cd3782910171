#include "cli/bench/op_case.h"

#include "treadle/core/random.h"
#include "treadle/graph/select.h"
#include "treadle/graph/settings.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/random/random.h"

namespace treadle::cli {

Tensor random_input(const Shape& shape, DType dtype, Device device, bool channels_last) {
  Generator generator(1);
  Tensor x = Tensor::empty(shape);
  uniform_(x, -1, 1, generator);
  x = to(cast(x, dtype), device);
  return channels_last && shape.rank() == 4 ? to_channels_last(x) : x;
}

std::vector<const Variant*> variants_for(const Op& op, const OpCase& entry, Device device) {
  std::vector<TensorSpec> specs;
  std::vector<TensorView> views;
  for (const Tensor& input : entry.inputs)
    specs.push_back(TensorSpec::of(input)), views.push_back(input.view());
  const size_t inputs = views.size();
  for (const TensorSpec& spec : op.infer(specs, entry.attributes))
    views.push_back({views[0].data, spec.dtype, spec.shape, spec.strides});
  std::span<const TensorView> all(views);
  Call call{all.first(inputs), all.subspan(inputs), entry.attributes};
  auto list = applicable_variants(op, call, device.kind);
  std::erase_if(list, [](const Variant* variant) { return !is_allowed(*variant, settings()); });
  return list;
}

}  // namespace treadle::cli
