/// Writing with a model of a text: character after character.
#pragma once  // public

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "treadle/core/device.h"
#include "treadle/data/batches.h"
#include "treadle/nn/module.h"

namespace treadle {

struct SamplingOptions {
  double temperature = 1;  ///< logits are divided by it; 0: always the likeliest
  int64_t top_k = 0;       ///< only among so many likeliest; 0: among all
};

/// Draws a class with the probability softmax(logits / temperature), in double, of the top_k largest logits;
/// of equal ones the first counts as larger. Throws ValueError for logits that are not finite, none of them,
/// and options that are negative or not finite.
TREADLE_API int64_t draw_class(std::span<const float> logits, const SamplingOptions& options,
                               SplitMix64& random);

/// Draws characters one by one, each from the logits behind those before it, as many as a block holds. What
/// is drawn follows from the model, the beginning and the seed.
///
/// The model runs in evaluation mode as one compiled program on a whole block [1, T]: characters stand at its
/// beginning and it is filled up behind them, which changes nothing before, as the model is causal. Nothing
/// is kept from one character to the next: places count from the first character of the window, so once the
/// window moves on, keys and values of all its characters are others.
class TREADLE_API TextGenerator {
 public:
  /// The model must outlive it; it gives [1, T, K] for [1, T] of i64. `beginning`: what is there, at least
  /// one number. Throws ValueError for none, for a block below 1, and what draw_class() throws for options.
  TextGenerator(Module& model, int64_t block, Device device, std::span<const int32_t> beginning,
                const SamplingOptions& options, uint64_t seed);
  ~TextGenerator();

  /// The logits of the next character.
  std::vector<float> logits();
  /// Draws it and puts it behind the others.
  int32_t next();

 private:
  struct Forward;
  int64_t block_;
  Device device_;
  std::vector<int32_t> window_;  ///< the last characters, at most a block
  SamplingOptions options_;
  SplitMix64 random_;
  std::unique_ptr<Forward> forward_;
};

}  // namespace treadle
