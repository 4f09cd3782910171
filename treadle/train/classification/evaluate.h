/// Accuracy and loss of a classifier on a data set.
#pragma once  // public

#include <memory>
#include <stop_token>
#include <vector>

#include "treadle/data/batches.h"
#include "treadle/data/dataset.h"
#include "treadle/nn/module.h"
#include "treadle/train/classification/class_metrics.h"
#include "treadle/train/fit.h"

namespace treadle {

struct Evaluation {
  double loss = 0;                      ///< mean cross-entropy per image
  double accuracy = 0;                  ///< share of images whose largest logit is their label
  std::vector<int64_t> correct, total;  ///< by class
  ConfusionMatrix confusion;
};

/// A batch on a device: images [B,C,H,W] or values [B,…] f32, labels [B] i64.
struct Batch {
  Tensor images, labels;
};
TREADLE_API Batch make_batch(const ImageDataset& dataset, std::span<const int64_t> indices,
                             const PixelNormalization& normalization, Device device);

/// Runs a model in evaluation mode over data sets, as a compiled function that is recorded once.
class TREADLE_API Evaluator {
 public:
  /// The model must outlive the evaluator.
  explicit Evaluator(Module& model);
  ~Evaluator();
  /// The first `limit` images (0: all) in order. When a stop is requested, the result covers the images so
  /// far; loss and accuracy of none are 0. Throws ValueError for a batch size below 1, a negative limit and a
  /// label without a class.
  Evaluation operator()(const ImageDataset& dataset, const PixelNormalization& normalization, Device device,
                        int64_t batch_size = 256, int64_t limit = 0, std::stop_token stop = {});
  /// The same of other examples, whose batches are the model's input and labels [B] of i64. With 0 classes
  /// there are as many as labels and answers name.
  Evaluation operator()(const Examples& examples, int64_t classes, int64_t batch_size = 256,
                        int64_t limit = 0, std::stop_token stop = {});

 private:
  struct Forward;
  Module& model_;
  std::unique_ptr<Forward> forward_;
};

/// Runs the model in evaluation mode over the first `limit` images (0: all) in order, as an Evaluator does.
TREADLE_API Evaluation evaluate(Module& model, const ImageDataset& dataset,
                                const PixelNormalization& normalization, Device device,
                                int64_t batch_size = 256, int64_t limit = 0, std::stop_token stop = {});

}  // namespace treadle
