/// How well a model knows which character of a text follows.
#pragma once  // public

#include <memory>
#include <span>
#include <stop_token>

#include "treadle/core/device.h"
#include "treadle/nn/module.h"

namespace treadle {

struct TextEvaluation {
  double loss = 0;         ///< mean cross-entropy of a character, in nats
  int64_t characters = 0;  ///< that were foretold

  /// e^loss: a choice among so many equal ones is as hard.
  TREADLE_API double perplexity() const;
  /// loss / ln 2: what a perfect coder would need.
  TREADLE_API double bits_per_character() const;
};

/// Runs a model in evaluation mode over texts, as a compiled function that is recorded once for each number
/// of windows.
class TREADLE_API TextEvaluator {
 public:
  /// The model must outlive the evaluator.
  explicit TextEvaluator(Module& model);
  ~TextEvaluator();
  /// The first `limit` windows (0: all) of `block` characters, side by side; each character is foretold from
  /// those before it in its window, and what is left behind the last whole window is not. When a stop is
  /// requested, the result covers the windows so far. Throws ValueError for a text that is no longer than a
  /// block, a batch size below 1 and a negative limit.
  TextEvaluation operator()(std::span<const int32_t> text, int64_t block, Device device,
                            int64_t batch_size = 32, int64_t limit = 0, std::stop_token stop = {});

 private:
  struct Forward;
  Module& model_;
  std::unique_ptr<Forward> forward_;
};

}  // namespace treadle
