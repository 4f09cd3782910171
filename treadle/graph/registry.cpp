#include "treadle/graph/registry.h"

#include <algorithm>

#include "treadle/core/error.h"
#include "treadle/core/nearest_name.h"
#include "treadle/core/runtime.h"
#include "treadle/graph/composition.h"
#include "treadle/graph/widened_variant.h"

namespace treadle {

Op& Registry::add(Op op) {
  require<ValueError>(!contains(op.name), "an op called '{}' is already registered", op.name);
  std::string name = op.name;
  Op& added = *(ops_[name] = std::make_unique<Op>(std::move(op)));
  if (added.compose)
    for (const DeviceName& device : kDeviceNames)
      added.variants.push_back(composed_variant(added, device.kind));
  if (added.autocast == AutocastPolicy::low)
    added.variants.push_back(widened_variant(added, DeviceKind::cpu));
  return added;
}

void Registry::add_variant(const std::string& op, const Variant& variant) {
  waiting_.emplace_back(op, variant);
}

void add_variant(Registry& registry, const char* op, const Variant& variant) {
  registry.add_variant(op, variant);
}

void add_engine(Registry& registry, Engine engine, EngineAbsence absence) {
  registry.add_engine(engine, absence);
}

bool Registry::contains(const std::string& name) const { return ops_.count(name) != 0; }

const Op& Registry::find(const std::string& name) const {
  auto found = ops_.find(name);
  if (found != ops_.end()) return *found->second;
  std::vector<std::string> known;
  for (auto& [other, op] : ops_) known.push_back(other);
  std::string meant = suggestion(name, known);
  throw ValueError(
      fmt::format("no op is called '{}'{} `treadle ops` lists them", name, meant.empty() ? ";" : meant));
}

std::vector<const Op*> Registry::ops() const {
  std::vector<const Op*> list;
  for (auto& [name, op] : ops_) list.push_back(op.get());
  return list;
}

std::string Registry::engine_absence(Engine engine) const {
  if (engine == Engine::own) return "";
  if (auto found = engines_.find(engine); found != engines_.end()) return found->second();
  return fmt::format("it comes with the device {}: {}", name_of(device_of(engine)),
                     absence_of(Device{device_of(engine), 0}));
}

void Registry::finish() {
  for (auto& [name, variant] : waiting_) {
    auto found = ops_.find(name);
    require<ValueError>(found != ops_.end(), "variant '{}' belongs to no op: '{}'", variant.name, name);
    found->second->variants.push_back(variant);
  }
  waiting_.clear();
  for (auto& [name, op] : ops_)
    std::stable_sort(op->variants.begin(), op->variants.end(),
                     [](const Variant& a, const Variant& b) { return a.preference > b.preference; });
  std::stable_sort(
      chain_fusions_.begin(), chain_fusions_.end(),
      [](const ChainFusion& a, const ChainFusion& b) { return a.chain.size() > b.chain.size(); });
  std::stable_partition(step_fusions_.begin(), step_fusions_.end(),
                        [](const StepFusion& fusion) { return !fusion.last; });
}

namespace detail {
Registry& mutable_registry() {
  static auto& instance = *new Registry;
  return instance;
}
}  // namespace detail

const Registry& registry() {
  register_everything();
  return detail::mutable_registry();
}

std::string absence_of(Engine engine) { return registry().engine_absence(engine); }

const Op& op_named(const std::string& name) { return registry().find(name); }

}  // namespace treadle
