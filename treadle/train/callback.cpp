#include "treadle/train/callback.h"

namespace treadle {
namespace {

void add(EpochFigures& figures, const std::string& part, const Metrics& metrics) {
  for (const auto& [name, value] : metrics.values) figures.values[part + "_" + name] = value;
}

}  // namespace

EpochFigures EpochReport::figures() const {
  EpochFigures figures{epoch,
                       {{"train_loss", train_loss}, {"seconds", seconds}, {"learning_rate", learning_rate}}};
  add(figures, "validation", validation);
  add(figures, "test", test);
  return figures;
}

}  // namespace treadle
