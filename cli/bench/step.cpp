#include <fmt/core.h>

#include <optional>

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

/// What was measured.
struct StepMeasurement {
  StepMeasurement(const StepBench& bench, StepWork& work, const std::vector<double>& times)
      : unit(work.unit()),
        steps(int64_t(times.size())),
        median(quantile(times, 0.5)),
        fast(quantile(times, 0.1)),
        slow(quantile(times, 0.9)),
        rates(rates_by_tenth(times, double(bench.batch))),
        peak_bytes(peak_memory_bytes()),  // before the density adds its own
        step_peak_bytes(work.peak_bytes()),
        resumes(work.resumes()) {
    if (const auto program = work.program())
      arena_bytes = int64_t(program->memory_bytes), threads = program->threads;
    if (bench.mode == "train") loss = work.loss(), density = work.density();
  }

  std::string unit;
  int64_t steps;
  double median, fast, slow;  ///< seconds of a step: median, p10, p90
  std::vector<double> rates;
  int64_t peak_bytes, step_peak_bytes;
  bool resumes;                        ///< from the optimizer's state of a checkpoint
  std::optional<int64_t> arena_bytes;  ///< of compiled steps
  int threads = num_threads();         ///< that steps were spread over at the end
  std::optional<double> loss;          ///< of training
  std::vector<double> density;
};

Json json_of(const StepBench& bench, Device device, const StepMeasurement& m) {
  const double batch = double(bench.batch);
  Json report = {{"version", version()},
                 {"model", bench.model},
                 {"mode", bench.mode},
                 {"batch", bench.batch},
                 {"unit", m.unit},
                 {"optimizer", bench.optimizer},
                 {"checkpoint", bench.checkpoint},
                 {"optimizer_state_from_checkpoint", m.resumes},
                 {"device", to_string(device)},
                 {"threads", num_threads()},
                 {"threads_used", m.threads},
                 {"bound", bench.bind},
                 {"eager", bench.eager},
                 {"steps", m.steps},
                 {"images_per_second_median", batch / m.median},
                 {"images_per_second_p90", batch / m.fast},
                 {"images_per_second_by_tenth", m.rates},
                 {"step_seconds_median", m.median},
                 {"step_seconds_p10", m.fast},
                 {"step_seconds_p90", m.slow},
                 {"peak_memory_bytes", m.peak_bytes},
                 {"step_peak_bytes", m.step_peak_bytes}};
  if (m.arena_bytes) report.add("arena_bytes", *m.arena_bytes);
  if (m.loss) report.add("loss", *m.loss);
  if (m.loss) report.add("pooled_gradient_density", m.density);
  return report;
}

void print(const StepBench& bench, Device device, const StepMeasurement& m) {
  const double batch = double(bench.batch);
  fmt::print(
      "{} {} on {}, batch {}, {} steps: {} {}/s (median), {} (p10 of the step time)\n"
      "step {:.3f} ms median, {:.3f} p10, {:.3f} p90; peak {}, of that a step {}\n",
      bench.model, bench.mode, to_string(device), bench.batch, m.steps,
      with_commas(int64_t(batch / m.median)), m.unit, with_commas(int64_t(batch / m.fast)), 1e3 * m.median,
      1e3 * m.fast, 1e3 * m.slow, byte_size(double(m.peak_bytes)), byte_size(double(m.step_peak_bytes)));
  if (!m.rates.empty())
    fmt::print("from the first tenth of the steps, {} {}/s, to the last, {}\n",
               with_commas(int64_t(m.rates.front())), m.unit, with_commas(int64_t(m.rates.back())));
  if (m.arena_bytes)
    fmt::print("arena, scratch and results of the program: {}\n", byte_size(double(*m.arena_bytes)));
  if (m.threads < num_threads())
    fmt::print("on {} of {} threads, which was measured to be faster\n", m.threads, num_threads());
  if (!m.loss) return;
  fmt::print("loss {:.4f} in the last step", *m.loss);
  for (double share : m.density) fmt::print(", {} of a pooled gradient not zero", percent(share));
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
  const StepMeasurement measured(bench, work, seconds);
  if (bench.json)
    print_json(json_of(bench, device, measured));
  else
    print(bench, device, measured);
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
