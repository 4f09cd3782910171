/// A loader's batch as a training step takes it.
#pragma once

#include <utility>
#include <vector>

#include "treadle/data/augmented_batches.h"
#include "treadle/ops/layout/copy.h"

namespace treadle {

/// Examples and targets on that device. On the cpu they are the batch's own and have no other owner, so that
/// the loader may write them again once they are dropped.
inline std::vector<Tensor> tensors_on(Device device, AugmentedBatch batch) {
  if (device != kCpu) return {to(batch.examples, device), to(batch.targets, device)};
  std::vector<Tensor> tensors(2);
  tensors[0] = std::move(batch.examples), tensors[1] = std::move(batch.targets);
  return tensors;
}

}  // namespace treadle
