/// Checkpoints: one safetensors file with parameters, optimizer and sampler state, and what is needed to use
/// them.
#pragma once  // public

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "treadle/core/random.h"
#include "treadle/data/batches.h"
#include "treadle/nn/module.h"

namespace treadle {

/// How far a run has come, beside its epochs and steps.
struct RunProgress {
  std::string run;               ///< a name that no other run has
  int64_t best_epoch = 0;        ///< with the best score on the validation part; 0: none so far
  double best_score = 0;         ///< the accuracy of a classifier
  std::vector<double> schedule;  ///< Schedule::kept()
  std::string metrics;           ///< the line of metrics.jsonl about the last finished epoch
  // Of the epoch that was begun: all zero at its start.
  int64_t examples = 0;
  double loss_sum = 0;  ///< over these examples
  double seconds = 0;   ///< of training steps
};

struct Checkpoint {
  std::string model;
  std::map<std::string, std::string> model_options;
  std::vector<std::string> classes;
  Shape input;  ///< of one example: [C,H,W] of an image; empty where none is kept
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
  Generator random = Generator();  ///< what default_generator() goes on with, as dropout takes it
  /// How the run was started (epochs, learning rate, …): text that resuming reads.
  std::map<std::string, std::string> training;
  RunProgress progress;
  /// Read from a file of a Treadle that chose best.safetensors on the test set.
  bool chosen_on_test_set = false;
};

/// Writes beside the target and renames. Throws FileError; then an older file is as it was.
TREADLE_API void save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);

/// Throws FileError, FormatError (damaged, not a Treadle checkpoint, or of an unknown version: names both
/// versions).
TREADLE_API Checkpoint load_checkpoint(const std::filesystem::path& path);

/// The first floating-point tensor with an element that is NaN or infinite, as "fc1.weight is nan at element
/// 17"; empty when there is none.
TREADLE_API std::string find_non_finite(const std::vector<NamedTensor>& tensors);

}  // namespace treadle
