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
