#include "treadle/train/callbacks/csv_log.h"

#include "cli/train_callbacks.h"

namespace treadle::cli {

void register_callbacks_csv_log(TrainCallbacks& callbacks) {
  callbacks.add(
      [](const TrainContext& run) { return std::make_unique<CsvLog>(run.folder.path() / "metrics.csv"); });
}

}  // namespace treadle::cli
