/// The cpu variant of pick: reads an element of each row.
#include "treadle/core/parallel_for.h"
#include "treadle/graph/variant.h"
#include "treadle/ops/loss/cpu/labels.h"
#include "treadle/ops/loss/pick_options.h"

namespace treadle {
namespace {

template <class T>
void pick_rows(const Call& call) {
  const TensorView &x = call.input(0), &labels = call.input(1);
  const int64_t ignored = call.options<PickOptions>().ignore_index;
  T* y = call.output().as<T>();
  parallel_for(x.shape[0], Nanoseconds{2}, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      if (label_of(labels, n) == ignored) {
        y[n] = T(0);
        continue;
      }
      const int64_t label = checked_label(labels, n, x.shape[1], kPickOutOfRange);
      y[n] = x.as<T>()[n * x.strides[0] + label * x.strides[1]];
    }
  });
}

void run(const Call& call) {
  with_floating_type(call.input(0).dtype, [&](auto tag) { pick_rows<typename decltype(tag)::type>(call); });
}

}  // namespace

namespace ops {

void register_loss_cpu_pick(Registry& registry) {
  add_variant(registry, "pick", {.name = "loop", .device = DeviceKind::cpu, .run = run});
}

}  // namespace ops
}  // namespace treadle
