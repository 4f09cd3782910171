/// Training an image classifier with cross-entropy.
#pragma once  // public

#include "treadle/data/dataset.h"
#include "treadle/data/loader.h"
#include "treadle/train/classification/evaluate.h"
#include "treadle/train/learning_rate_finder.h"
#include "treadle/train/task_options.h"

namespace treadle {

struct ClassifierOptions : TaskOptions {
  Augmentations augmentations = {};        ///< of the training images, by the seed
  std::optional<int> loader_threads = {};  ///< that make batches ahead, see LoaderOptions
  double label_smoothing = 0;              ///< of the loss that is trained, see CrossEntropyOptions
};

/// What a classifier is trained on, and judged by: batches are the model's input, and labels i64 [B]; of the
/// training part they may be probabilities f32 [B, classes], as augmentations that mix give them.
struct ClassifierParts {
  const Examples& train;
  const Examples* validation = nullptr;  ///< chooses the best epoch; null: the last one counts
  const Examples* test = nullptr;        ///< chooses nothing
  int64_t classes = 0;                   ///< 0: as many as labels and answers name
};

/// Training images as batches of a Loader, with the augmentations, normalization, device and seed of the
/// options. Both must outlive it.
TREADLE_API std::unique_ptr<Examples> training_images(const ImageDataset& dataset,
                                                      const ClassifierOptions& options);

/// fit() on the parts. The metrics are "loss", the mean cross-entropy, and "accuracy"; with a validation part
/// the best epoch is that of the best accuracy on it. With limit_batches, evaluations are cut to as many
/// examples.
TREADLE_API FitResult fit_classifier(Module& model, Optimizer& optimizer, const Schedule& schedule,
                                     const ClassifierParts& parts, const ClassifierOptions& options);

/// fit() on the training images, with the normalization of options.description; batches come from a Loader.
/// Where augmentations mix labels, the loss is the cross-entropy with their shares. The metrics are "loss",
/// the mean cross-entropy, and "accuracy"; with images in data.validation (see hold_out()) the best epoch is
/// that of the best accuracy on them. With limit_batches, evaluations are cut to as many images.
TREADLE_API FitResult fit_classifier(Module& model, Optimizer& optimizer, const Schedule& schedule,
                                     const DatasetSplits& data, const ClassifierOptions& options);

/// find_learning_rate() on the images, with the batch size, seed, stop, normalization, augmentations and
/// label smoothing of `options`.
TREADLE_API LearningRateCurve find_classifier_learning_rate(Module& model, Optimizer& optimizer,
                                                            const ImageDataset& images,
                                                            const ClassifierOptions& options,
                                                            LearningRateSearch search = {});

/// The figures by class behind metrics that fit_classifier() gave; without any where there are none.
TREADLE_API Evaluation evaluation_of(const Metrics& metrics);

}  // namespace treadle
