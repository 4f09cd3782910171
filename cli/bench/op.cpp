#include <fmt/core.h>

#include <algorithm>

#include "cli/bench/chosen_variant.h"
#include "cli/bench/op_case.h"
#include "cli/bench/timing.h"
#include "cli/command.h"
#include "cli/format.h"
#include "cli/settings_options.h"
#include "cli/standard_output.h"
#include "treadle/core/error.h"
#include "treadle/core/runtime.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/settings.h"

namespace treadle::cli {
namespace {

struct OpBench : RunSettings {
  std::string op, dtype = "f32";
  double seconds = 0.3;
  bool json = false;

  static void describe(auto& field) {
    using O = OpBench;
    field("op", &O::op, "The op's name", {.on_command_line = "OP", .required = true});
    field("seconds", &O::seconds, "Time per variant and case", {.check = positive_number()});
    field("dtype", &O::dtype, "Element type");
    RunSettings::describe(field);
    field("json", &O::json, "One JSON object on the last line");
  }
};

struct Timing {
  std::string label, variant;
  std::vector<double> seconds;
  double median() const { return quantile(seconds, 0.5); }
  double fast() const { return quantile(seconds, 0.1); }
};

/// Of every variant that takes the call, or of the one that was chosen for the op.
void time_variants(const Op& op, const OpCase& entry, Device device, double seconds,
                   std::vector<Timing>& timings) {
  const auto variants = settings().variants;
  const auto only = variants.find(op.name);
  auto work = [&] {
    apply(op, entry.inputs, entry.attributes);
    runtime(device).synchronize();
  };
  for (const Variant* taken : variants_for(op, entry, device)) {
    if (only != variants.end() && only->second != taken->name) continue;
    const ChosenVariant chosen(op.name, taken->name);
    time_repeatedly(work, 0, 2);
    timings.push_back({entry.label, taken->name, time_repeatedly(work, seconds, 5)});
  }
}

Json json_of(const OpBench& bench, Device device, const std::vector<Timing>& timings) {
  std::vector<Json> list;
  for (const Timing& timing : timings)
    list.push_back({{"op", bench.op},
                    {"case", timing.label},
                    {"variant", timing.variant},
                    {"dtype", bench.dtype},
                    {"device", to_string(device)},
                    {"seconds_median", timing.median()},
                    {"seconds_p10", timing.fast()},
                    {"runs", timing.seconds.size()}});
  return {{"timings", list}};
}

std::string table_of(const std::vector<Timing>& timings) {
  std::vector<std::vector<std::string>> rows{{"case", "variant", "median", "p10", "runs"}};
  for (const Timing& timing : timings)
    rows.push_back({timing.label, timing.variant, fmt::format("{:.1f} µs", 1e6 * timing.median()),
                    fmt::format("{:.1f} µs", 1e6 * timing.fast()), std::to_string(timing.seconds.size())});
  return table(rows, {2, 3, 4});
}

int run(const OpBench& bench) {
  Device device = apply_run_settings(bench);
  const Op& op = op_named(bench.op);
  require<ValueError>(!op.direct && op.mutates.empty(),
                      "{} is a view or an update in place; it is not timed alone", op.name);
  const DType dtype = dtype_named(bench.dtype);
  require<ValueError>(op.dtypes.contains(dtype), "{} does not take {}; `treadle ops {}` lists what it takes",
                      op.name, bench.dtype, op.name);
  NoGrad no_grad;
  std::vector<Timing> timings;
  for (const OpCase& entry : timed_cases(op, dtype, device))
    time_variants(op, entry, device, bench.seconds, timings);
  if (bench.json)
    print_json(json_of(bench, device, timings));
  else
    fmt::print("{} on {}, {}\n{}", op.name, to_string(device), bench.dtype, table_of(timings));
  return kSuccess;
}

}  // namespace

void register_bench_op(Commands& commands) {
  commands.add({.place = 2,
                .name = "bench op",
                .description = "Every variant of an op that the device has",
                .example = "treadle bench op matmul --device simt"},
               run);
}

}  // namespace treadle::cli
