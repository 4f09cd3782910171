/// A model given by name or by checkpoint file.
#pragma once

#include <memory>
#include <string>

#include "treadle/nn/module.h"
#include "treadle/train/checkpoint.h"

namespace treadle::cli {

struct LoadedModel {
  std::shared_ptr<Module> module;
  Checkpoint checkpoint;
};

/// Reads a checkpoint (a file, or a run folder: then its best.safetensors) and builds its model. Throws
/// FormatError when the file does not hold that model.
LoadedModel load_model(const std::string& path);

}  // namespace treadle::cli
