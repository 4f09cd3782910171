/// Process-wide choices that decide which variant runs, and how.
#pragma once  // public

#include <map>
#include <string>

#include "treadle/core/export.h"

namespace treadle {

struct Settings {
  /// Only variants that give the same bits twice.
  bool deterministic = false;
  /// Only Treadle's own kernels, no library.
  bool own_engine_only = false;
  /// Compiled functions run op by op, as if they were not compiled.
  bool eager = false;
  /// Computing on `cpu` keeps numbers below the smallest normal one, which may halve its speed, instead of
  /// taking them for zero: see core/floating_point.h. Other devices always keep them.
  bool keep_subnormals = false;
  /// Op name → variant name; such a variant must apply or the call throws.
  std::map<std::string, std::string> variants;

  bool operator==(const Settings&) const = default;
};

TREADLE_API Settings& settings();

}  // namespace treadle
