/// A module as it is used, not trained.
#pragma once

#include "treadle/nn/module.h"

namespace treadle {

/// Evaluation mode while one lives.
class EvaluationMode {
 public:
  explicit EvaluationMode(Module& model) : model_(model), before_(model.is_training()) { model.eval(); }
  ~EvaluationMode() { model_.train(before_); }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  Module& model_;
  bool before_;
};

}  // namespace treadle
