/// Says on a terminal that variants are being measured, and ends that when a stop is asked for.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include "treadle/compile/measuring.h"

namespace treadle::cli {

/// For measurements of the thread that makes it, as long as it lives.
class MeasuringNote {
 public:
  /// `on_terminal`: write on stderr. After a stop nothing is measured any more.
  explicit MeasuringNote(bool on_terminal, std::stop_token stop = {});

 private:
  bool go_on(std::string_view op);
  void clear();

  bool shown_;
  std::stop_token stop_;
  std::string line_;  ///< what stands on the terminal
  ObserveMeasuring observe_;
};

}  // namespace treadle::cli
