/// A data set's examples as they are, for evaluations.
#pragma once

#include <utility>
#include <vector>

#include "treadle/train/classification/evaluate.h"

namespace treadle {

class PlainImages final : public Examples {
 public:
  /// The data set and the normalization must outlive it.
  PlainImages(const ImageDataset& dataset, const PixelNormalization& normalization, Device device)
      : dataset_(dataset), normalization_(normalization), device_(device) {}
  int64_t size() const override { return dataset_.size(); }
  std::vector<Tensor> batch(std::span<const int64_t> indices) const override {
    Batch batch = make_batch(dataset_, indices, normalization_, device_);
    return {std::move(batch.images), std::move(batch.labels)};
  }

 private:
  const ImageDataset& dataset_;
  const PixelNormalization& normalization_;
  Device device_;
};

}  // namespace treadle
