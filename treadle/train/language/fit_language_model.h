/// Training a model that foretells the characters of a text.
#pragma once  // public

#include "treadle/data/text.h"
#include "treadle/train/language/evaluate_text.h"
#include "treadle/train/learning_rate_finder.h"
#include "treadle/train/task_options.h"

namespace treadle {

/// fit() on windows of text.train, see TextWindows: the model gives for characters [B, T] the logits [B, T,
/// K] of those that follow. An epoch is a pass over the text. The metrics are "loss", the mean cross-entropy
/// of a character in nats, and "perplexity"; where there is a text.validation the best epoch is that of the
/// least loss on it. With limit_batches, evaluations are cut to as many windows.
TREADLE_API FitResult fit_language_model(Module& model, Optimizer& optimizer, const Schedule& schedule,
                                         const TextDataset& text, const TaskOptions& options);

/// find_learning_rate() on the windows, with the batch size, seed and stop of `options`.
TREADLE_API LearningRateCurve find_language_learning_rate(Module& model, Optimizer& optimizer,
                                                          const TextDataset& text, const TaskOptions& options,
                                                          LearningRateSearch search = {});

/// What is behind metrics that fit_language_model() gave; of no characters where there are none.
TREADLE_API TextEvaluation text_evaluation_of(const Metrics& metrics);

}  // namespace treadle
