/// The best variant for a call, by measurement, remembered in a file.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "treadle/graph/op.h"

namespace treadle {

/// Variant name → best time in seconds.
using VariantTimes = std::map<std::string, double>;

/// Runs a call by a variant; before each run, what is not timed.
struct VariantRunner {
  std::function<void(const Variant&)> run;
  std::function<void()> prepare = {};
};

/// Whether a call is left to measurement: the settings name no variant, do not ask for determinism, and allow
/// more than one that applies.
bool needs_choice(const Op& op, const Call& call, Device device);

/// The times of the variants that the settings allow: from the file of earlier measurements, else measured
/// now, on the call's own memory; outputs hold some variant's result afterwards, and updates in place have
/// been made several times. `runner` runs the call once. Where a variant skips zeros, times hold for operands
/// with so many zeros (drawn_operands.h).
///
/// The variants take turns: in each round every one runs for about a millisecond, or once, after a run that
/// is not counted. Its time is that of its fastest run. It counts as settled when a second round came within
/// a tenth of it, so that a disturbance lengthens the measurement and does not decide it. Rounds go on for at
/// least 10 ms, until all times are settled, for at most 200 ms for each variant. Runs so long that this is
/// less than two rounds are made all the same. Empty when an observer (measuring.h) gave the measurement up.
VariantTimes measured_times(const Op& op, const Call& call, Device device, const VariantRunner& runner);

/// The fastest of them.
const Variant& fastest_variant(const Op& op, const Call& call, Device device, const VariantTimes& times);

/// Measurements kept between runs of a program: `$TREADLE_CACHE`, else `$XDG_CACHE_HOME/treadle`, else
/// `~/.cache/treadle`, file variants.json. Each entry holds for one machine, number of threads, op, shapes,
/// layouts and options. A file that cannot be read or written is no error: a warning says so once.
class TREADLE_API VariantCache {
 public:
  static std::filesystem::path path();
  /// Times of a call's variants; empty when it was never measured.
  static VariantTimes find(const std::string& key);
  static void store(const std::string& key, const VariantTimes& times);
  static std::map<std::string, VariantTimes> entries();
  /// Forgets everything, the file included.
  static void clear();
};

/// What a measurement holds for: "AMD EPYC, 2 threads | conv2d | f32 [32, 1, 28, 28] … | stride=[1, 1] …".
TREADLE_API std::string variant_key(const Op& op, const Call& call, Device device);

}  // namespace treadle
