#include "cli/train_report.h"

#include <fmt/core.h>

#include "cli/format.h"
#include "treadle/core/allocator.h"
#include "treadle/core/parallel_for.h"

namespace treadle::cli {
namespace {

std::string saved_text(const TrainingRun& run, const FitResult& result) {
  if (result.best_epoch == 0) return fmt::format("saved in {}/last.safetensors", run.folder);
  return fmt::format("saved in {}/best.safetensors (epoch {}) and last.safetensors", run.folder,
                     result.best_epoch);
}

}  // namespace

std::string TrainingRun::checkpoint() const {
  return folder + (options.validation > 0 ? "/best.safetensors" : "/last.safetensors");
}

void announce(const TrainingRun& run) {
  const TrainOptions& o = run.options;
  fmt::print("{}: {} parameters, on {} ({} threads)\n", o.model, with_commas(run.parameters),
             to_string(run.device), num_threads());
  fmt::print("{}: {}\n", o.data, run.task.sizes());
  fmt::print("{} epoch{}, batch {}, {}, learning rate {} {}, seed {}{}\n", o.epochs, o.epochs == 1 ? "" : "s",
             o.batch_size, o.optimizer, o.learning_rate, o.schedule, o.seed,
             o.precision == "f32" ? "" : ", products in " + o.precision);
  fmt::print("run folder {}\n", run.folder);
  std::fflush(stdout);
}

void report(const TrainingRun& run, const FitResult& result, double seconds) {
  const DataUnit unit = run.task.unit();
  fmt::print("\n{}", run.task.report(result));
  fmt::print("{} {}/s (median step), {:.1f} s training, {:.1f} s in all\n{}\n",
             with_commas(int64_t(result.examples_per_second * double(unit.in_example))), unit.name,
             result.train_seconds, seconds, saved_text(run, result));
}

Json json_of(const TrainingRun& run, const FitResult& result, double seconds) {
  const TrainOptions& o = run.options;
  Json object = {{"model", o.model},
                 {"device", to_string(run.device)},
                 {"data", o.data},
                 {"epochs", o.epochs},
                 {"batch_size", o.batch_size},
                 {"seed", o.seed},
                 {"precision", o.precision},
                 {"train_seconds", result.train_seconds},
                 {"total_seconds", seconds},
                 {"parameters", run.parameters},
                 {"peak_memory_bytes", peak_memory_bytes()},
                 {"allocator_peak_bytes", allocator(run.device).statistics().peak_bytes},
                 {"losses", result.losses},
                 {"checkpoint", run.checkpoint()}};
  run.task.add_figures(object, result);
  return object;
}

std::string interruption_text(const TrainingRun& run, const FitResult& result) {
  if (!result.saved) return "interrupted before the first step; nothing was saved";
  return fmt::format(
      "interrupted after {} steps; the state is in {}/last.safetensors. Go on with: treadle train {} "
      "--resume "
      "--out {}",
      result.steps_done, run.folder, run.options.model, run.folder);
}

}  // namespace treadle::cli
