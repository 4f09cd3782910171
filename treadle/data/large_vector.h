/// Vectors of many bytes, in large pages where the system has them: reading a data set touches every page of
/// it once, and gathering a batch touches pages at random. Internal to data/.
#pragma once

#include <cstddef>
#include <vector>

#include "treadle/core/large_pages.h"

namespace treadle {

/// `count` zeros.
template <class T>
std::vector<T> large_vector(size_t count) {
  std::vector<T> vector;
  vector.reserve(count);
  prefer_large_pages(vector.data(), count * sizeof(T));
  vector.resize(count);
  return vector;
}

}  // namespace treadle
