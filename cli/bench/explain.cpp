#include <fmt/core.h>

#include <algorithm>

#include "cli/bench/step_work.h"
#include "cli/command.h"
#include "cli/format.h"
#include "cli/settings_options.h"
#include "cli/standard_output.h"
#include "treadle/compile/variant_choice.h"
#include "treadle/core/error.h"
#include "treadle/graph/op.h"
#include "treadle/graph/settings.h"

namespace treadle::cli {
namespace {

struct ExplainBench : StepChoice, RunSettings {
  int64_t replays = 200;
  bool clear = false, json = false;

  static void describe(auto& field) {
    using O = ExplainBench;
    StepChoice::describe(field);
    field("replays", &O::replays, "Replays of which the best time of each step is taken",
          {.check = whole_number(1)});
    field("clear", &O::clear, "Forget all measurements of variants");
    RunSettings::describe(field);
    field("json", &O::json, "One JSON object on the last line");
  }
};

std::string shapes_of(const Program& program, const std::vector<int>& values) {
  std::string text;
  for (int value : values)
    if (value != kNoValue)
      text += fmt::format("{}{}", text.empty() ? "" : " ", program.values[size_t(value)].spec.shape);
  constexpr size_t kWidth = 60;
  return text.size() > kWidth ? text.substr(0, kWidth) + " …" : text;
}

/// "winograd 812.0, tiled 1900.4": the measured times, fastest first.
std::string measured_text(const ProgramStep& step) {
  if (step.measured.empty()) return "the only one";
  std::vector<std::pair<double, std::string>> order;
  for (auto& [name, seconds] : step.measured) order.emplace_back(seconds, name);
  std::sort(order.begin(), order.end());
  std::string text;
  for (auto& [seconds, name] : order)
    text += fmt::format("{}{} {:.1f}", text.empty() ? "" : ", ", name, 1e6 * seconds);
  return text;
}

void print_steps(const treadle::StepTimes& times) {
  std::vector<Json> steps;
  for (size_t i = 0; i < times.seconds.size(); ++i) {
    const ProgramStep& step = times.program->steps[i];
    steps.push_back({{"op", step.op->name},
                     {"variant", step.variant->name},
                     {"seconds", times.seconds[i]},
                     {"pieces", times.program->pieces_of(i)},
                     {"measured", step.measured}});
  }
  print_json(Json{{"cache", VariantCache::path().string()}, {"steps", steps}});
}

void print_table(const treadle::StepTimes& times) {
  std::vector<std::vector<std::string>> rows{{"op", "operands", "variant", "µs", "measured, µs"}};
  double total = 0;
  bool in_pieces = false;
  for (size_t i = 0; i < times.seconds.size(); ++i) {
    const ProgramStep& step = times.program->steps[i];
    const int pieces = times.program->pieces_of(i);
    total += times.seconds[i] * pieces;
    in_pieces = in_pieces || pieces > 1;
    const std::string count = pieces > 1 ? fmt::format("{} × ", pieces) : "";
    rows.push_back({step.op->name, shapes_of(*times.program, step.inputs), step.variant->name,
                    times.seconds[i] == 0 ? "once" : fmt::format("{}{:.1f}", count, 1e6 * times.seconds[i]),
                    measured_text(step)});
  }
  fmt::print("{}\nsum of the steps, each at its best: {:.1f} µs{}\n", table(rows, {3}), 1e6 * total,
             in_pieces ? "; \"n ×\": once for each of n pieces of the batch" : "");
  fmt::print("measurements are kept in {}; `--clear` forgets them, `--variant OP=NAME` overrules them\n",
             VariantCache::path().string());
}

int run(const ExplainBench& bench) {
  if (bench.clear) {
    VariantCache::clear();
    fmt::print("{} is empty\n", VariantCache::path().string());
    return kSuccess;
  }
  Device device = apply_run_settings(bench);
  require<ValueError>(!settings().eager, "op by op there is no program to explain; leave --eager out");
  StepWork work(bench, device);
  for (int i = 0; i < 20; ++i) work();
  auto times = work.program_times(int(bench.replays));
  bench.json ? print_steps(times) : print_table(times);
  return kSuccess;
}

}  // namespace

void register_bench_explain(Commands& commands) {
  commands.add({.place = 4,
                .name = "bench explain",
                .description = "Which variant runs each step of a compiled step, and what was measured",
                .example = "treadle bench explain --model fashion_cnn --batch 32"},
               run);
}

}  // namespace treadle::cli
