#include "treadle/graph/select.h"

#include "treadle/core/error.h"
#include "treadle/core/nearest_name.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/settings.h"

namespace treadle {
namespace {

std::string describe_call(const Op& op, const Call& call) {
  std::string text = op.name + "(";
  for (const TensorView& view : call.inputs)
    text += view.defined() ? fmt::format(" {} {}", name_of(view.dtype), to_string(view.shape)) : " none";
  return text + " )";
}

}  // namespace

bool is_allowed(const Variant& variant, const Settings& current) {
  return (variant.engine == Engine::own || !current.own_engine_only) &&
         (variant.deterministic || !current.deterministic);
}

const Variant& variant_named(const Op& op, DeviceKind device, const std::string& name) {
  std::vector<std::string> known;
  for (const Variant& variant : op.variants) {
    if (variant.device != device) continue;
    if (name == variant.name) return variant;
    known.emplace_back(variant.name);
  }
  require<ValueError>(!known.empty(), "on {} {} has no variants to choose from, so no '{}'", name_of(device),
                      op.name, name);
  throw ValueError(
      unknown_name(fmt::format("on {} {} has no variant", name_of(device), op.name), name, known));
}

std::vector<const Variant*> applicable_variants(const Op& op, const Call& call, DeviceKind device) {
  std::vector<const Variant*> list;
  for (const Variant& variant : op.variants)
    if (variant.device == device && (!variant.when || variant.when(call))) list.push_back(&variant);
  return list;
}

std::span<const Variant> variants_of(const Op& op) { return op.variants; }

const Variant& select_variant(const Op& op, const Call& call, DeviceKind device) {
  const Settings& current = settings();
  if (!current.variants.empty()) {
    if (auto chosen = current.variants.find(op.name); chosen != current.variants.end()) {
      const Variant& variant = variant_named(op, device, chosen->second);
      require<ValueError>(is_allowed(variant, current), "variant {}={} is ruled out by the settings", op.name,
                          variant.name);
      require<ValueError>(!variant.when || variant.when(call), "variant {}={} does not take {}", op.name,
                          variant.name, describe_call(op, call));
      return variant;
    }
  }
  for (const Variant& variant : op.variants)
    if (variant.device == device && is_allowed(variant, current) && (!variant.when || variant.when(call)))
      return variant;
  throw DeviceError(fmt::format("no variant on {} takes {}", name_of(device), describe_call(op, call)));
}

}  // namespace treadle
