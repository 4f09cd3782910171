/// The figures of one epoch, as a line of metrics.jsonl holds them.
#pragma once  // public

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "treadle/core/export.h"

namespace treadle {

struct EpochFigures {
  int64_t epoch = 0;                     ///< the first is 1
  std::map<std::string, double> values;  ///< "train_loss", "validation_accuracy", …

  /// One JSON object, without the end of the line.
  TREADLE_API std::string line() const;
};

/// What line() gave; nothing for a line that a killed process did not finish.
TREADLE_API std::optional<EpochFigures> read_figures(const std::string& line);

}  // namespace treadle
