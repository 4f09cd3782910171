#include "cli/run_plots.h"
#include "cli/train_callbacks.h"
#include "treadle/train/classification/fit_classifier.h"

namespace treadle::cli {
namespace {

/// Draws a run that is done.
class Plots final : public Callback {
 public:
  explicit Plots(const TrainContext& run) : run_(run) {}

  void begin_fit(const FitStart& start) override { model_ = &start.model; }
  void end_fit(const FitResult& result) override {
    if (result.interrupted || result.test.empty()) return;
    const ImageDataset none;
    draw_plots({RunFolder::epochs_in(run_.folder.path()), *model_, run_.device, run_.normalization,
                run_.images ? run_.images->test : none, evaluation_of(result.test)},
               run_.folder.path() / "plots");
  }

 private:
  TrainContext run_;
  Module* model_ = nullptr;
};

}  // namespace

void register_callbacks_plots(TrainCallbacks& callbacks) {
  callbacks.add([](const TrainContext& run) -> std::unique_ptr<Callback> {
    return run.options.no_plots ? nullptr : std::make_unique<Plots>(run);
  });
}

}  // namespace treadle::cli
