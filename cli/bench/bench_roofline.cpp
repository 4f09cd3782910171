#include "cli/bench/bench_roofline.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/bench/roofline.h"
#include "cli/bench/step_work.h"
#include "cli/bench/timing.h"
#include "cli/option_checks.h"
#include "cli/settings_options.h"
#include "cli/standard_output.h"
#include "treadle/core/error.h"
#include "treadle/core/parallel_for.h"

namespace treadle::cli {
namespace {

struct RooflineBench {
  StepChoice choice;
  RunSettings settings;
  int64_t runs = 30;
  bool ceilings_only = false, markdown = false, json = false;
};

nlohmann::json json_of(const ThreadCeilings& ceilings) {
  nlohmann::json levels = nlohmann::json::array();
  for (const MemoryLevel& level : ceilings.levels)
    levels.push_back({{"level", level.name},
                      {"capacity_bytes", level.capacity},
                      {"read_bytes_per_second", level.read},
                      {"write_bytes_per_second", level.write}});
  return {{"threads", ceilings.threads}, {"operations_per_second", ceilings.operations}, {"memory", levels}};
}

nlohmann::json json_of(const Ceilings& ceilings) {
  return {{"vectors", ceilings.vectors},
          {"one", json_of(ceilings.one)},
          {"all", json_of(ceilings.all)},
          {"region_seconds", ceilings.region_seconds},
          {"op_call_seconds", ceilings.op_call_seconds}};
}

nlohmann::json json_of(const std::vector<StepCost>& costs, const Ceilings& ceilings) {
  nlohmann::json list = nlohmann::json::array();
  for (const StepCost& cost : costs)
    list.push_back({{"name", cost.name},
                    {"variant", cost.variant},
                    {"flops", cost.flops},
                    {"bytes", cost.bytes},
                    {"seconds", cost.seconds},
                    {"least_seconds", least_seconds(cost, ceilings.all)}});
  return list;
}

struct StepTimes {
  std::vector<StepCost> costs;
  double seconds;  ///< of the whole step, median
};

StepTimes time_steps(const RooflineBench& bench, Device device) {
  StepWork work(bench.choice, device);
  auto step = [&] { work(); };
  time_repeatedly(step, 0.3, 10);
  const double seconds = quantile(time_repeatedly(step, 0, bench.runs), 0.5);
  return {costs_of(step, bench.runs), seconds};
}

void print(const RooflineBench& bench, const Ceilings& ceilings, const StepTimes* times) {
  const TableStyle style = bench.markdown ? TableStyle::markdown : TableStyle::plain;
  print_ceilings(ceilings, style);
  if (!times) return;
  fmt::print("\n{} {}, {}, batch {}:\n\n", bench.choice.model, bench.choice.mode, bench.choice.optimizer,
             bench.choice.batch);
  print_roofline(times->costs, ceilings, times->seconds, style);
}

int run(const RooflineBench& bench) {
  Device device = apply_run_settings(bench.settings);
  require<ValueError>(device == kCpu, "the roofline is measured on cpu only");
  bind_threads();
  const Ceilings ceilings = measure_ceilings();
  StepTimes times{{}, 0};
  if (!bench.ceilings_only) times = time_steps(bench, device);
  if (!bench.json) return print(bench, ceilings, bench.ceilings_only ? nullptr : &times), kSuccess;
  nlohmann::json report = {{"ceilings", json_of(ceilings)}};
  if (!bench.ceilings_only)
    report["steps"] = json_of(times.costs, ceilings), report["step_seconds"] = times.seconds;
  print_json(report);
  return kSuccess;
}

}  // namespace

Action add_roofline_bench(CLI::App& app) {
  auto bench = std::make_shared<RooflineBench>();
  add_step_choice(app, bench->choice);
  app.add_option("--runs", bench->runs, "Runs of the step, of which medians are taken")
      ->transform(whole_number(1))
      ->capture_default_str();
  app.add_flag("--ceilings", bench->ceilings_only, "Only the machine's ceilings");
  auto* markdown = app.add_flag("--markdown", bench->markdown, "Markdown tables");
  add_run_settings(app, bench->settings);
  app.add_flag("--json", bench->json, "One JSON object on the last line")->excludes(markdown);
  app.footer("Example: treadle bench roofline --model fashion_cnn --batch 32");
  return [bench] { return run(*bench); };
}

}  // namespace treadle::cli
