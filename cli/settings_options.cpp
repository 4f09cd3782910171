#include "cli/settings_options.h"

#include "treadle/core/affinity.h"
#include "treadle/core/error.h"
#include "treadle/core/parallel_for.h"
#include "treadle/core/runtime.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/select.h"
#include "treadle/graph/settings.h"

namespace treadle::cli {
namespace {

/// Whether there is one thread for every core. In a part of the machine that a mask or a quota grants, other
/// processes with the same one may bind themselves to the same cores.
bool fills_machine() { return thread_limit().whole_machine && num_threads() == thread_limit().threads; }

void choose_variant(const std::string& pair, DeviceKind device) {
  size_t split = pair.find('=');
  require<ValueError>(split != std::string::npos, "--variant takes OP=NAME, not '{}'", pair);
  std::string op = pair.substr(0, split), name = pair.substr(split + 1);
  const Variant& variant = variant_named(op_named(op), device, name);
  std::string why = absence_of(variant.engine);
  require<DeviceAbsent>(why.empty(), "variant {}={} needs {}: {}", op, name, name_of(variant.engine), why);
  require<ValueError>(is_allowed(variant, settings()),
                      "variant {}={} is ruled out by --engine own or --deterministic", op, name);
  settings().variants[op] = name;
}

}  // namespace

Device apply_run_settings(const RunSettings& chosen) {
  Device device = device_named(chosen.device);
  std::string reason = absence_of(device);
  require<DeviceAbsent>(reason.empty(), "device {} is not available: {}", chosen.device, reason);
  if (chosen.threads > 0) set_num_threads(int(chosen.threads));
  settings().deterministic = chosen.deterministic;
  settings().own_engine_only = chosen.engine == "own";
  settings().eager = chosen.eager;
  settings().keep_subnormals = chosen.keep_subnormals;
  for (const std::string& pair : chosen.variant) choose_variant(pair, device.kind);
  return device;
}

Device apply_run_settings(const BindingSettings& chosen) {
  Device device = apply_run_settings(static_cast<const RunSettings&>(chosen));
  if (!chosen.no_bind && device.kind == DeviceKind::cpu && fills_machine()) bind_threads();
  return device;
}

}  // namespace treadle::cli
