/// Batches of augmented, normalised examples: each depends on seed, epoch and index alone.
#pragma once  // public

#include <cstdint>
#include <span>

#include "treadle/core/export.h"
#include "treadle/core/parallel_for.h"
#include "treadle/core/tensor.h"
#include "treadle/data/augmentations.h"
#include "treadle/data/batches.h"
#include "treadle/data/dataset.h"

namespace treadle {

/// On the cpu.
struct AugmentedBatch {
  Tensor examples;  ///< f32 [B, …example]
  /// Labels i64 [B]; of augmentations that mix, the probabilities f32 [B, classes].
  Tensor targets;
};

/// Copies examples first … first + count - 1 and their targets to `to`: to its memory where nobody else
/// refers to that and it has the shape of the copy.
TREADLE_API void copy_rows(const AugmentedBatch& from, int64_t first, int64_t count, AugmentedBatch& to);

/// Makes batches of a data set, for several threads at once. An augmentation's
/// random numbers follow from the seed, the epoch, the example's index and the augmentation's place in the
/// list, so that neither batches nor threads change an example.
class TREADLE_API AugmentedBatches {
 public:
  /// The data set must outlive it. Throws ValueError for a data set that is not whole, and for augmentations
  /// and a normalization that do not fit it.
  AugmentedBatches(const ImageDataset& dataset, Augmentations augmentations,
                   const PixelNormalization& normalization, uint64_t seed);

  /// In the calling thread or spread by parallel_for, whose threads belong to whoever computes. Throws
  /// ValueError for an index beyond the data set.
  AugmentedBatch batch(int64_t epoch, std::span<const int64_t> indices, bool spread = true) const;
  /// The same in place of `batch`: in its memory where nobody else refers to that and the new one has its
  /// shape. So a batch that was dropped is written again, and the caches still have its memory.
  void replace(AugmentedBatch& batch, int64_t epoch, std::span<const int64_t> indices,
               bool spread = true) const;
  /// What an example takes, about.
  Nanoseconds example_time() const;

 private:
  struct Room;
  void write_targets(std::span<const int64_t> indices, const AugmentedBatch& batch, int64_t begin) const;
  void write_rows(int64_t epoch, std::span<const int64_t> indices, const AugmentedBatch& batch, int64_t begin,
                  int64_t end) const;
  void write(int64_t epoch, int64_t index, float* out, float* probabilities, Room& room) const;
  int64_t class_of(int64_t index) const;
  void apply(size_t place, int64_t epoch, int64_t index, AugmentedExample& example) const;
  void mix(size_t place, int64_t epoch, int64_t index, AugmentedExample& example, float* probabilities,
           Room& room) const;
  AugmentationRandom random(size_t place, int64_t epoch, int64_t index) const;

  const ImageDataset& dataset_;
  Augmentations augmentations_;
  PixelNormalization normalization_;
  uint64_t seed_;
};

}  // namespace treadle
