/// `treadle summary --program` and `treadle bench explain`: the programs that a model's steps become.
#pragma once

#include <string>

#include "treadle/compile/compile.h"
#include "treadle/models/model.h"
#include "treadle/nn/module.h"
#include "treadle/optim/optimizer.h"

namespace treadle::cli {

/// A model with what its steps need.
struct ProgramSource {
  std::shared_ptr<Module> model;
  std::unique_ptr<Optimizer> optimizer;
  Tensor examples, labels;
};

/// A fresh model for a task on `device`, with noise as images, or numbers of 0: variants are measured on
/// them.
ProgramSource program_source(const std::string& model, const ModelTask& task, const std::string& optimizer,
                             int64_t batch, Device device);

/// The programs of one inference step and one training step.
struct ModelPrograms {
  ProgramReport inference, training;
};
ModelPrograms make_programs(ProgramSource& source);

}  // namespace treadle::cli
