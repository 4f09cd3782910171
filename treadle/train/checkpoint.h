/// Checkpoints: one safetensors file with parameters, optimizer and sampler state, and what is needed to use
/// them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "treadle/data/batches.h"
#include "treadle/nn/module.h"

namespace treadle {

struct Checkpoint {
  std::string model;
  std::map<std::string, std::string> model_options;
  std::vector<std::string> classes;
  Shape input;  ///< [C,H,W]
  PixelNormalization normalization;
  std::string dataset;
  uint64_t seed = 0;
  int64_t epoch = 0;  ///< epochs completed
  int64_t step = 0;   ///< steps completed
  /// Parameters and buffers under PyTorch's names.
  std::vector<NamedTensor> parameters;
  /// Optimizer::state(); empty in a checkpoint that is only for use.
  std::vector<NamedTensor> optimizer_state;
  BatchSampler::State sampler;
  /// How the run was started (epochs, learning rate, …) and how far it came: text that resuming reads.
  std::map<std::string, std::string> training;
};

/// Writes beside the target and renames. Throws FileError; then an older file is as it was.
TREADLE_API void save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);

/// Throws FileError, FormatError (damaged, not a Treadle checkpoint, or of an unknown version: names both
/// versions).
TREADLE_API Checkpoint load_checkpoint(const std::filesystem::path& path);

}  // namespace treadle
