#include "cli/train_callbacks.h"

namespace treadle::cli {

void register_all(TrainCallbacks& callbacks);  // generated from the files of cli/callbacks/

TrainCallbacks train_callbacks() {
  TrainCallbacks callbacks;
  register_all(callbacks);
  return callbacks;
}

std::vector<std::unique_ptr<Callback>> TrainCallbacks::make(const TrainContext& run) const {
  std::vector<std::unique_ptr<Callback>> made;
  for (const Make& make : makers_)
    if (auto callback = make(run)) made.push_back(std::move(callback));
  return made;
}

}  // namespace treadle::cli
