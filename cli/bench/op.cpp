#include <fmt/core.h>

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

/// Filters stay row-major, as parameters are.
bool is_image(const Shape& shape) { return shape.rank() == 4 && shape[2] > 3; }

std::vector<OpCase> prepare(const Op& op, DType dtype, Device device) {
  std::vector<OpCase> prepared;
  for (const BenchCase& sized : op.bench_cases ? op.bench_cases(device.kind) : std::vector<BenchCase>{}) {
    OpCase entry{sized.label, {}, sized.attributes};
    for (const Shape& shape : sized.inputs)
      entry.inputs.push_back(random_input(shape, dtype, device, is_image(shape) && sized.channels_last));
    prepared.push_back(std::move(entry));
  }
  if (!prepared.empty()) return prepared;
  const TestCase* largest = nullptr;
  int64_t most = -1;
  auto cases = op.cases();
  for (const TestCase& candidate : cases) {
    int64_t elements = 0;
    bool plain = true;
    for (const TestInput& input : candidate.inputs)
      elements += input.shape.numel(), plain &= input.dtype.empty() && input.defined;
    if (plain && elements > most) most = elements, largest = &candidate;
  }
  require<ValueError>(largest != nullptr, "{} has no case that can be timed alone", op.name);
  OpCase entry{"test case '" + largest->label + "'", {}, largest->attributes};
  for (const TestInput& input : largest->inputs)
    entry.inputs.push_back(random_input(input.shape, dtype, device, false));
  prepared.push_back(std::move(entry));
  return prepared;
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
  std::vector<std::vector<std::string>> rows{{"case", "variant", "median", "p10", "runs"}};
  std::vector<Json> list;
  auto chosen = settings().variants;
  for (const OpCase& entry : prepare(op, dtype, device)) {
    for (const Variant* taken : variants_for(op, entry, device)) {
      const std::string variant = taken->name;
      if (chosen.count(op.name) && chosen[op.name] != variant) continue;
      settings().variants[op.name] = variant;
      auto work = [&] {
        apply(op, entry.inputs, entry.attributes);
        runtime(device).synchronize();
      };
      time_repeatedly(work, 0, 2);
      auto seconds = time_repeatedly(work, bench.seconds, 5);
      double median = quantile(seconds, 0.5), fast = quantile(seconds, 0.1);
      rows.push_back({entry.label, variant, fmt::format("{:.1f} µs", 1e6 * median),
                      fmt::format("{:.1f} µs", 1e6 * fast), std::to_string(seconds.size())});
      list.push_back({{"op", op.name},
                      {"case", entry.label},
                      {"variant", variant},
                      {"dtype", bench.dtype},
                      {"device", to_string(device)},
                      {"seconds_median", median},
                      {"seconds_p10", fast},
                      {"runs", seconds.size()}});
    }
  }
  settings().variants = chosen;
  if (bench.json)
    print_json(Json{{"timings", list}});
  else
    fmt::print("{} on {}, {}\n{}", op.name, to_string(device), bench.dtype, table(rows, {2, 3, 4}));
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
