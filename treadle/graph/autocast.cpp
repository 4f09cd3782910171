#include "treadle/graph/autocast.h"

#include <algorithm>

#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/autograd_node.h"
#include "treadle/graph/op.h"
#include "treadle/graph/recording.h"
#include "treadle/graph/registry.h"

namespace treadle {
namespace {

/// A leaf that was cast, and what must not have changed since for the result to be taken again.
struct CachedCast {
  Tensor leaf, result;
  uint64_t version;
  const Storage* storage;
  bool gradient_mode;
  uint64_t recording;  ///< 0: none
};

struct State {
  DType dtype = DType::f32;
  int depth = 0;
  std::vector<CachedCast> cache;
};

State& state() {
  thread_local State current;
  return current;
}

/// Whether backward() has passed the cast and freed it: another pass needs another.
bool was_freed(const Tensor& result) {
  const GradientState* place = state_of(result);
  return place && place->node && place->node->freed;
}

bool holds(const CachedCast& entry, const Tensor& leaf, DType dtype) {
  const Storage* storage = leaf.handle()->storage.get();
  return entry.leaf.same_as(leaf) && entry.storage == storage && entry.version == storage->version() &&
         entry.result.dtype() == dtype && entry.gradient_mode == gradient_mode() &&
         entry.recording == number_of_recording() && !was_freed(entry.result);
}

Tensor cast_once(const Tensor& leaf, DType dtype) {
  auto& cache = state().cache;
  const auto found =
      std::find_if(cache.begin(), cache.end(), [&](const auto& entry) { return holds(entry, leaf, dtype); });
  if (found != cache.end()) return found->result;
  std::erase_if(cache, [&](const CachedCast& entry) { return entry.leaf.same_as(leaf); });
  const Tensor result = registry().cast(leaf, dtype);
  const Storage* storage = leaf.handle()->storage.get();
  cache.push_back({leaf, result, storage->version(), storage, gradient_mode(), number_of_recording()});
  return result;
}

bool is_exact(const Tensor& x) { return x.defined() && x.dtype() == DType::f64; }

bool have_one_dtype(const std::vector<Tensor>& inputs) {
  const Tensor* first = nullptr;
  for (const Tensor& x : inputs) {
    if (!x.defined() || !is_floating(x.dtype())) continue;
    if (!first) first = &x;
    if (x.dtype() != first->dtype()) return false;
  }
  return true;
}

}  // namespace

Autocast::Autocast(DType dtype) : before_(state().dtype) {
  require<DTypeError>(dtype == DType::f32 || is_half(dtype),
                      "Autocast computes in bf16 or f16, or with f32 not at all, but not in {}",
                      name_of(dtype));
  state().dtype = dtype;
  ++state().depth;
}

Autocast::~Autocast() {
  state().dtype = before_;
  if (--state().depth == 0) state().cache.clear();
}

DType autocast_dtype() { return state().dtype; }

void autocast_operands(const Op& op, std::vector<Tensor>& inputs, const std::vector<int>& fixed) {
  const DType low = state().dtype;
  if (low == DType::f32 || op.autocast == AutocastPolicy::none) return;
  if (std::any_of(inputs.begin(), inputs.end(), is_exact)) return;
  if (op.autocast == AutocastPolicy::equal && have_one_dtype(inputs)) return;
  const DType dtype = op.autocast == AutocastPolicy::low ? low : DType::f32;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor& x = inputs[i];
    if (!x.defined() || !is_floating(x.dtype()) || x.dtype() == dtype) continue;
    if (std::find(fixed.begin(), fixed.end(), int(i)) != fixed.end()) continue;
    x = leaf_state(x) ? cast_once(x, dtype) : registry().cast(x, dtype);
  }
}

}  // namespace treadle
