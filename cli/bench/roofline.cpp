#include <fmt/core.h>

#include <map>

#include "cli/bench/roofline_table.h"
#include "cli/bench/step_work.h"
#include "cli/bench/timing.h"
#include "cli/command.h"
#include "cli/settings_options.h"
#include "cli/standard_output.h"
#include "treadle/core/error.h"
#include "treadle/core/parallel_for.h"

namespace treadle::cli {
namespace {

struct RooflineBench : StepChoice, RunSettings {
  int64_t runs = 30;
  bool ceilings = false, markdown = false, json = false;

  static void describe(auto& field) {
    using O = RooflineBench;
    StepChoice::describe(field);
    field("runs", &O::runs, "Runs of the step, of which medians are taken", {.check = whole_number(1)});
    field("ceilings", &O::ceilings, "Only the machine's ceilings");
    field("markdown", &O::markdown, "Markdown tables");
    RunSettings::describe(field);
    field("json", &O::json, "One JSON object on the last line", {.excludes = {"--markdown"}});
  }
};

Json json_of(const ThreadCeilings& ceilings) {
  std::vector<Json> levels;
  for (const MemoryLevel& level : ceilings.levels)
    levels.push_back({{"level", level.name},
                      {"capacity_bytes", level.capacity},
                      {"read_bytes_per_second", level.read},
                      {"write_bytes_per_second", level.write}});
  return {{"threads", ceilings.threads}, {"operations_per_second", ceilings.operations}, {"memory", levels}};
}

Json json_of(const Ceilings& ceilings) {
  return {{"vectors", ceilings.vectors},
          {"one", json_of(ceilings.one)},
          {"all", json_of(ceilings.all)},
          {"region_seconds", ceilings.region_seconds},
          {"op_call_seconds", ceilings.op_call_seconds}};
}

Json json_of(const std::vector<StepCost>& costs, const Ceilings& ceilings) {
  std::vector<Json> list;
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

/// Of steps that ran once for each of several pieces of a batch the sums. `costs` are by `order`, and so is
/// what is returned: by the steps that are in it.
std::vector<StepCost> of_all_pieces(const std::vector<StepCost>& costs, const std::vector<size_t>& order) {
  std::map<size_t, StepCost> sums;
  for (size_t i = 0; i < costs.size(); ++i) {
    const auto [found, is_new] = sums.emplace(order[i], costs[i]);
    if (is_new) continue;
    StepCost& sum = found->second;
    sum.flops += costs[i].flops, sum.bytes += costs[i].bytes, sum.seconds += costs[i].seconds;
  }
  std::vector<StepCost> list;
  for (const auto& [step, sum] : sums) list.push_back(sum);
  return list;
}

/// Steps in the order in which they run; of `runs` that are fewer prepared ones are left out, which run once.
std::vector<size_t> order_of_runs(const Program& program, size_t runs) {
  std::vector<size_t> order = program.run_order();
  if (runs < order.size()) std::erase_if(order, [&](size_t step) { return program.steps[step].prepared; });
  return order;
}

StepTimes time_steps(const RooflineBench& bench, Device device) {
  StepWork work(bench, device);
  auto step = [&] { work(); };
  time_repeatedly(step, 0.3, 10);
  const double seconds = quantile(time_repeatedly(step, 0, bench.runs), 0.5);
  const auto program = work.program();
  const std::vector<StepCost> costs = costs_of(step, bench.runs);
  const auto order = program ? order_of_runs(*program->program, costs.size()) : std::vector<size_t>();
  return {order.size() == costs.size() ? of_all_pieces(costs, order) : costs, seconds};
}

void print(const RooflineBench& bench, const Ceilings& ceilings, const StepTimes* times) {
  const TableStyle style = bench.markdown ? TableStyle::markdown : TableStyle::plain;
  print_ceilings(ceilings, style);
  if (!times) return;
  fmt::print("\n{} {}, {}, batch {}:\n\n", bench.model, bench.mode, bench.optimizer, bench.batch);
  print_roofline(times->costs, ceilings, times->seconds, style);
}

int run(const RooflineBench& bench) {
  Device device = apply_run_settings(bench);
  require<ValueError>(device == kCpu, "the roofline is measured on cpu only");
  bind_threads();
  const Ceilings ceilings = measure_ceilings();
  StepTimes times{{}, 0};
  if (!bench.ceilings) times = time_steps(bench, device);
  if (!bench.json) return print(bench, ceilings, bench.ceilings ? nullptr : &times), kSuccess;
  Json report = {{"ceilings", json_of(ceilings)}};
  if (!bench.ceilings) report.add("steps", json_of(times.costs, ceilings));
  if (!bench.ceilings) report.add("step_seconds", times.seconds);
  print_json(report);
  return kSuccess;
}

}  // namespace

void register_bench_roofline(Commands& commands) {
  commands.add({.place = 3,
                .name = "bench roofline",
                .description = "What the machine can do at most, and how far each op of a step is from it",
                .example = "treadle bench roofline --model fashion_cnn --batch 32"},
               run);
}

}  // namespace treadle::cli
