/// parallel_for: splits a range over a small pool of threads that spin briefly and then park.
#pragma once

#include <cstdint>
#include <type_traits>

#include "treadle/core/export.h"

namespace treadle {

/// Threads used by parallel_for, the caller included. Default: the number of cores.
TREADLE_API int num_threads();
TREADLE_API void set_num_threads(int count);

namespace detail {
using RangeFunction = void (*)(void* context, int64_t begin, int64_t end);
TREADLE_API void run_parallel(int64_t count, int64_t grain, RangeFunction function, void* context);
}  // namespace detail

/// Calls f(begin, end) on disjoint ranges that cover [0, count): one range per thread, each of at least
/// `grain` items, cut at the same places for the same count and thread number. A nested call, and one made
/// while another thread is inside parallel_for, runs inline as one range: results must not depend on the
/// cuts. The first exception is rethrown.
template <class F>
void parallel_for(int64_t count, int64_t grain, F&& f) {
  using Function = std::remove_reference_t<F>;
  detail::run_parallel(
      count, grain,
      [](void* context, int64_t begin, int64_t end) { (*static_cast<Function*>(context))(begin, end); },
      const_cast<void*>(static_cast<const void*>(&f)));
}

}  // namespace treadle
