/// One block of a kernel without barriers as plain loops that the compiler can vectorise.
///
/// The usual kernel computes i = blockIdx.x * blockDim.x + threadIdx.x and returns unless i < n, n being one
/// of its `int` or `unsigned` parameters. Here the loop runs over i itself, up to an end that is known not to
/// exceed n: the test disappears, and what remains is for (i = begin; i < end; ++i) body. It needs -O3; and
/// the compiler must see that a store cannot change a built-in variable, which it does except for stores to
/// character types.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "treadle/simt/built_ins.h"

namespace treadle::TREADLE_TARGET {

template <class T>
inline constexpr bool kMayBound = std::is_same_v<T, int> || std::is_same_v<T, unsigned>;

template <auto kernel, class... P>
class IndependentBlock {
 public:
  static void run(const std::tuple<P...>& arguments) {
    for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z)
      for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) std::apply(run_row, arguments);
  }

 private:
  static constexpr size_t kBounds = (size_t{kMayBound<P>} + ... + 0);
  /// One loop is compiled for each parameter that may be the bound: not for kernels with many.
  static constexpr size_t kMaxBounds = 3;

  /// Threads from `begin` on, without any promise.
  [[gnu::flatten]] static void run_threads(unsigned begin, P... arguments) {
    const unsigned threads = blockDim.x;
    for (unsigned x = begin; x < threads; ++x) {
      threadIdx.x = x;
      kernel(arguments...);
    }
  }

  /// Threads whose index lies in [begin, end), where end is at most the parameter number `bound`.
  template <size_t bound>
  [[gnu::flatten, gnu::noinline]] static void run_below(uint64_t first, uint64_t last, P... arguments) {
    using Index = std::tuple_element_t<bound, std::tuple<P...>>;
    const Index begin = static_cast<Index>(first), end = static_cast<Index>(last);
    if (end > std::get<bound>(std::tie(arguments...))) __builtin_unreachable();
    const unsigned base = blockIdx.x * blockDim.x;
    for (Index index = begin; index < end; ++index) {
      threadIdx.x = static_cast<unsigned>(index) - base;
      kernel(arguments...);
    }
  }

  /// The threads of one row of the block.
  static void run_row(P... arguments) {
    if constexpr (kBounds >= 1 && kBounds <= kMaxBounds)
      run_bounded(std::index_sequence_for<P...>(), arguments...);
    else
      run_threads(0, arguments...);
  }

  /// Takes the smallest parameter that no index of the row exceeds; in the last, partial row the largest one,
  /// which may be the bound of its first threads.
  template <size_t... i>
  static void run_bounded(std::index_sequence<i...>, P... arguments) {
    const uint64_t begin = uint64_t{blockIdx.x} * blockDim.x, end = begin + blockDim.x;
    if (end > INT_MAX) return run_threads(0, arguments...);
    const int64_t values[] = {bound_value(arguments)...};
    size_t best = 0;
    for (size_t k = 1; k < sizeof...(P); ++k)
      if (values[best] < static_cast<int64_t>(end)
              ? values[k] > values[best]
              : values[k] >= static_cast<int64_t>(end) && values[k] < values[best])
        best = k;
    const uint64_t bound = values[best] < 0 ? 0 : static_cast<uint64_t>(values[best]);
    const uint64_t middle = bound < begin ? begin : bound < end ? bound : end;
    if (middle > begin)  // then middle ≤ values[best], as run_below promises the compiler
      static_cast<void>(((best == i && run_below_if_bound<i>(begin, middle, arguments...)) || ...));
    if (middle < end) run_threads(static_cast<unsigned>(middle - begin), arguments...);
  }

  template <size_t bound>
  static bool run_below_if_bound(uint64_t begin, uint64_t end, P... arguments) {
    if constexpr (kMayBound<std::tuple_element_t<bound, std::tuple<P...>>>)
      run_below<bound>(begin, end, arguments...);
    return true;
  }

  /// A parameter's value, or -1 where it cannot be a bound.
  template <class T>
  static int64_t bound_value(const T& argument) {
    if constexpr (kMayBound<T>)
      return int64_t{argument};
    else
      return -1;
  }
};

}  // namespace treadle::TREADLE_TARGET
