
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/bench/step_work.h"
#include "cli/bench/timing.h"
#include "cli/command.h"
#include "cli/format.h"
#include "cli/settings_options.h"
#include "cli/standard_output.h"
#include "treadle/core/allocator.h"
#include "treadle/core/parallel_for.h"
#include "treadle/core/version.h"

namespace treadle::cli {
namespace {

struct StepBench : StepChoice, RunSettings {
  int64_t steps = 0;
  double seconds = 3;
  bool bind = false, json = false;

  static void describe(auto& field) {
    using O = StepBench;
    StepChoice::describe(field);
    field("steps", &O::steps, "Steps that are timed; 0: as many as --seconds allow",
          {.check = whole_number(0), .default_shown = false});
    field("seconds", &O::seconds, "Time for timed steps; a fifth of it again warms up",
          {.check = positive_number()});
    field("bind", &O::bind, "Bind each thread to a core of its own");
    RunSettings::describe(field);
    field("json", &O::json, "One JSON object on the last line");
  }
};

constexpr double kWarmUpShare = 0.2;
constexpr int64_t kWarmUpSteps = 20;

/// Medians of each tenth of the steps, in order: what becomes slower or faster while it runs.
std::vector<double> rates_by_tenth(const std::vector<double>& seconds, double batch) {
  constexpr size_t kParts = 10;
  std::vector<double> rates;
  for (size_t i = 0; i < kParts && seconds.size() >= kParts; ++i) {
    auto at = [&](size_t part) { return seconds.begin() + int64_t(seconds.size() * part / kParts); };
    rates.push_back(batch / quantile({at(i), at(i + 1)}, 0.5));
  }
  return rates;
}

/// What was measured, under the names that --json prints.
nlohmann::json report_of(const StepBench& bench, Device device, StepWork& work,
                         const std::vector<double>& seconds) {
  const double median = quantile(seconds, 0.5), fast = quantile(seconds, 0.1), slow = quantile(seconds, 0.9);
  const double batch = double(bench.batch);
  const bool train = bench.mode == "train";
  nlohmann::json report = {{"version", version()},
                           {"model", bench.model},
                           {"mode", bench.mode},
                           {"batch", bench.batch},
                           {"optimizer", bench.optimizer},
                           {"checkpoint", bench.checkpoint},
                           {"device", to_string(device)},
                           {"threads", num_threads()},
                           {"bound", bench.bind},
                           {"eager", bench.eager},
                           {"steps", seconds.size()},
                           {"images_per_second_median", batch / median},
                           {"images_per_second_p90", batch / fast},
                           {"images_per_second_by_tenth", rates_by_tenth(seconds, batch)},
                           {"step_seconds_median", median},
                           {"step_seconds_p10", fast},
                           {"step_seconds_p90", slow},
                           {"peak_memory_bytes", peak_memory_bytes()},  // before the density adds its own
                           {"step_peak_bytes", work.peak_bytes()}};
  if (!bench.eager) report["arena_bytes"] = work.program_bytes();
  if (train) report["loss"] = work.loss();
  if (train) report["pooled_gradient_density"] = work.density();
  return report;
}

void print(const nlohmann::json& report) {
  fmt::print(
      "{} {} on {}, batch {}, {} steps: {} images/s (median), {} (p10 of the step time)\n"
      "step {:.3f} ms median, {:.3f} p10, {:.3f} p90; peak {}, of that a step {}\n",
      report["model"].get<std::string>(), report["mode"].get<std::string>(),
      report["device"].get<std::string>(), report["batch"].get<int64_t>(), report["steps"].get<int64_t>(),
      with_commas(report["images_per_second_median"].get<int64_t>()),
      with_commas(report["images_per_second_p90"].get<int64_t>()),
      1e3 * report["step_seconds_median"].get<double>(), 1e3 * report["step_seconds_p10"].get<double>(),
      1e3 * report["step_seconds_p90"].get<double>(),
      byte_size(double(report["peak_memory_bytes"].get<int64_t>())),
      byte_size(double(report["step_peak_bytes"].get<int64_t>())));
  const auto& rates = report["images_per_second_by_tenth"];
  if (!rates.empty())
    fmt::print("from the first tenth of the steps, {} images/s, to the last, {}\n",
               with_commas(rates.front().get<int64_t>()), with_commas(rates.back().get<int64_t>()));
  if (report.contains("arena_bytes"))
    fmt::print("arena, scratch and results of the program: {}\n",
               byte_size(double(report["arena_bytes"].get<int64_t>())));
  if (!report.contains("loss")) return;
  fmt::print("loss {:.4f} in the last step", report["loss"].get<double>());
  for (double share : report["pooled_gradient_density"])
    fmt::print(", {} of a pooled gradient not zero", percent(share));
  fmt::print("\n");
}

int run(const StepBench& bench) {
  Device device = apply_run_settings(bench);
  StepWork work(bench, device);
  if (bench.bind) bind_threads();
  const std::function<void()> step = [&] { work(); };
  time_repeatedly(step, kWarmUpShare * bench.seconds, kWarmUpSteps);
  const bool counted = bench.steps > 0;
  auto seconds = time_repeatedly(step, counted ? 0 : bench.seconds, counted ? bench.steps : 10);
  const nlohmann::json report = report_of(bench, device, work, seconds);
  if (bench.json)
    print_json(report);
  else
    print(report);
  return kSuccess;
}

}  // namespace

void register_bench_step(Commands& commands) {
  commands.add({.place = 1,
                .name = "bench step",
                .description = "Whole training or inference steps on real data",
                .example = "treadle bench step --model fashion_cnn --mode inference --batch 32"},
               run);
}

}  // namespace treadle::cli
