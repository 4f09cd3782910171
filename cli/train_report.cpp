#include "cli/train_report.h"

#include <fmt/core.h>

#include <numeric>

#include "cli/class_table.h"
#include "cli/format.h"
#include "treadle/core/allocator.h"
#include "treadle/core/parallel_for.h"
#include "treadle/train/classification/fit_classifier.h"

namespace treadle::cli {
namespace {

std::string accuracy_text(double accuracy) { return fmt::format("{} ({:.4f})", percent(accuracy), accuracy); }

/// Fewer than the test set has when --limit-batches cuts it.
int64_t test_images(const Metrics& metrics) {
  const Evaluation test = evaluation_of(metrics);
  return std::accumulate(test.total.begin(), test.total.end(), int64_t(0));
}

std::string saved_text(const TrainingRun& run, const FitResult& result) {
  if (result.best_epoch == 0) return fmt::format("saved in {}/last.safetensors", run.folder);
  return fmt::format("saved in {}/best.safetensors (epoch {}) and last.safetensors", run.folder,
                     result.best_epoch);
}

}  // namespace

std::string TrainingRun::checkpoint() const {
  return folder + (data.validation.size() > 0 ? "/best.safetensors" : "/last.safetensors");
}

void announce(const TrainingRun& run) {
  const TrainOptions& o = run.options;
  std::string held_out =
      o.validation > 0 ? fmt::format(", {} validation", with_commas(run.data.validation.size())) : "";
  fmt::print("{}: {} parameters, on {} ({} threads)\n", o.model, with_commas(run.parameters),
             to_string(run.device), num_threads());
  fmt::print("{}: {} training{} and {} test images\n", o.data, with_commas(run.data.train.size()), held_out,
             with_commas(run.data.test.size()));
  fmt::print("{} epoch{}, batch {}, {}, learning rate {} {}, seed {}\n", o.epochs, o.epochs == 1 ? "" : "s",
             o.batch_size, o.optimizer, o.learning_rate, o.schedule, o.seed);
  fmt::print("run folder {}\n", run.folder);
  std::fflush(stdout);
}

void report(const TrainingRun& run, const FitResult& result, double seconds) {
  fmt::print("\n{}\n", class_table(run.data.test.classes, evaluation_of(result.test)));
  if (result.best_epoch > 0)
    fmt::print("validation accuracy {}, the best, after epoch {}\n",
               accuracy_text(result.validation["accuracy"]), result.best_epoch);
  fmt::print("test accuracy {}, test loss {:.4f}{}\n", accuracy_text(result.test["accuracy"]),
             result.test["loss"], share_of_test_set(test_images(result.test), run.data.test.size()));
  fmt::print("{} images/s (median step), {:.1f} s training, {:.1f} s in all\n{}\n",
             with_commas(int64_t(result.examples_per_second)), result.train_seconds, seconds,
             saved_text(run, result));
}

Json json_of(const TrainingRun& run, const FitResult& result, double seconds) {
  const TrainOptions& o = run.options;
  Json validation_accuracy;
  if (result.best_epoch > 0) validation_accuracy = result.validation["accuracy"];
  return {{"model", o.model},
          {"device", to_string(run.device)},
          {"data", o.data},
          {"epochs", o.epochs},
          {"batch_size", o.batch_size},
          {"seed", o.seed},
          {"validation_accuracy", validation_accuracy},
          {"test_accuracy", result.test["accuracy"]},
          {"test_loss", result.test["loss"]},
          {"test_images", test_images(result.test)},
          {"images_in_test_set", run.data.test.size()},
          {"train_seconds", result.train_seconds},
          {"total_seconds", seconds},
          {"images_per_second", result.examples_per_second},
          {"parameters", run.parameters},
          {"peak_memory_bytes", peak_memory_bytes()},
          {"allocator_peak_bytes", allocator(run.device).statistics().peak_bytes},
          {"losses", result.losses},
          {"checkpoint", run.checkpoint()}};
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
