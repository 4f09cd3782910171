/// Watching which variants run, with their operands and times.
#pragma once

#include <functional>

#include "treadle/graph/op.h"

namespace treadle::cli {

/// Told after a variant has run on the cpu.
using VariantObserver =
    std::function<void(const Op& op, const Variant& variant, const Call& call, double seconds)>;

/// While one lives, `observer` sees every variant that runs on the cpu, eager or in a program made meanwhile.
/// Only one may live at a time; it must outlive such programs. For benches: it changes the registry.
class ObserveVariants {
 public:
  explicit ObserveVariants(VariantObserver observer);
  ~ObserveVariants();
  ObserveVariants(const ObserveVariants&) = delete;
  ObserveVariants& operator=(const ObserveVariants&) = delete;
};

}  // namespace treadle::cli
