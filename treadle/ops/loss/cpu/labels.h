/// Labels on the cpu device.
#pragma once

#include "treadle/core/data_mistake.h"
#include "treadle/core/tensor_view.h"

namespace treadle {

inline int64_t label_of(const TensorView& labels, int64_t sample) {
  const int64_t offset = sample * labels.strides[0];
  return labels.dtype == DType::i64 ? labels.as<int64_t>()[offset] : labels.as<int32_t>()[offset];
}

/// Throws ValueError, see DataMistake for `message`, unless the label names a class.
inline int64_t checked_label(const TensorView& labels, int64_t sample, int64_t classes, const char* message) {
  const int64_t label = label_of(labels, sample);
  if (label < 0 || label >= classes) throw_data_mistake(message, label, sample, classes);
  return label;
}

}  // namespace treadle
