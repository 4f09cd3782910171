#include "cli/class_figures.h"
#include "cli/train_callbacks.h"
#include "treadle/formats/file.h"
#include "treadle/train/classification/fit_classifier.h"

namespace treadle::cli {
namespace {

/// Keeps test_figures.json, which a run that is done has: what the test images tell of its weights.
class TestFigures final : public Callback {
 public:
  explicit TestFigures(const TrainContext& run)
      : file_(run.folder.path() / "test_figures.json"), classes_(run.images->test.classes) {}

  /// Those of an earlier run, or of fewer epochs, are no longer true.
  void end_epoch(const EpochReport&) override {
    std::error_code ignored;
    std::filesystem::remove(file_, ignored);
  }
  void end_fit(const FitResult& result) override {
    if (result.interrupted || result.test.empty()) return;
    const Evaluation test = evaluation_of(result.test);
    Json object{{"classes", classes_},
                {"accuracy", test.accuracy},
                {"loss", test.loss},
                {"images", test.total},
                {"epochs", result.epochs_done}};
    add_class_figures(object, test);
    replace_text(file_, object.text() + "\n");
  }

 private:
  std::filesystem::path file_;
  std::vector<std::string> classes_;
};

}  // namespace

void register_callbacks_test_figures(TrainCallbacks& callbacks) {
  callbacks.add([](const TrainContext& run) -> std::unique_ptr<Callback> {
    return run.images ? std::make_unique<TestFigures>(run) : nullptr;
  });
}

}  // namespace treadle::cli
