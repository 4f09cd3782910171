#include "treadle/train/callbacks/early_stopping.h"

#include "cli/train_callbacks.h"

namespace treadle::cli {

/// By the figure that chooses best.safetensors.
void register_callbacks_early_stopping(TrainCallbacks& callbacks) {
  callbacks.add([](const TrainContext& run) -> std::unique_ptr<Callback> {
    if (run.options.early_stop == 0) return nullptr;
    return std::make_unique<EarlyStopping>(
        EarlyStoppingOptions{.figure = "validation_" + run.best_by.figure,
                             .higher_is_better = run.best_by.higher_is_better,
                             .patience = run.options.early_stop});
  });
}

}  // namespace treadle::cli
