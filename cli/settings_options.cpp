#include "cli/settings_options.h"

#include "cli/option_checks.h"
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

}  // namespace

void add_run_settings(CLI::App& app, RunSettings& settings) {
  app.add_option("--device", settings.device, "auto, cpu, simt (CUDA kernels on the CPU), cuda or cuda:N")
      ->capture_default_str();
  app.add_option("--engine", settings.engine, "own: only Treadle's kernels; any: libraries too")
      ->check(one_of({"own", "any"}))
      ->capture_default_str();
  app.add_option("--variant", settings.variants, "OP=NAME: run this variant of an op; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--threads", settings.threads,
                 "CPU threads; default: TREADLE_THREADS, else all cores that the affinity mask and control "
                 "groups grant")
      ->transform(whole_number(1, 1024));
  app.add_flag("--deterministic", settings.deterministic, "Only variants that give the same bits twice");
  app.add_flag("--eager", settings.eager, "Run op by op instead of recording and replaying programs");
  app.add_flag("--keep-subnormals", settings.keep_subnormals,
               "Compute on cpu with numbers below the smallest normal one, which is slow, instead of zeros");
}

void add_binding(CLI::App& app, RunSettings& settings) {
  settings.bind = true;
  app.add_flag_callback(
      "--no-bind", [&settings] { settings.bind = false; },
      "Leave threads to the scheduler; without it each is bound to a core when there is one for every core "
      "of "
      "the machine, until other processes want the cores too");
}

Device apply_run_settings(const RunSettings& chosen) {
  Device device = device_named(chosen.device);
  std::string reason = absence_of(device);
  require<DeviceAbsent>(reason.empty(), "device {} is not available: {}", chosen.device, reason);
  if (chosen.threads > 0) set_num_threads(chosen.threads);
  if (chosen.bind && device.kind == DeviceKind::cpu && fills_machine()) bind_threads();
  settings().deterministic = chosen.deterministic;
  settings().own_engine_only = chosen.engine == "own";
  settings().eager = chosen.eager;
  settings().keep_subnormals = chosen.keep_subnormals;
  for (const std::string& pair : chosen.variants) {
    size_t split = pair.find('=');
    require<ValueError>(split != std::string::npos, "--variant takes OP=NAME, not '{}'", pair);
    std::string op = pair.substr(0, split), name = pair.substr(split + 1);
    const Variant& variant = variant_named(op_named(op), device.kind, name);
    std::string why = absence_of(variant.engine);
    require<DeviceAbsent>(why.empty(), "variant {}={} needs {}: {}", op, name, name_of(variant.engine), why);
    require<ValueError>(is_allowed(variant, settings()),
                        "variant {}={} is ruled out by --engine own or --deterministic", op, name);
    settings().variants[op] = name;
  }
  return device;
}

}  // namespace treadle::cli
