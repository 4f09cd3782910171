#include "cli/measuring_note.h"

#include <fmt/core.h>

#include <cstdio>

#include "cli/terminal_line.h"

namespace treadle::cli {

MeasuringNote::MeasuringNote(bool on_terminal, std::stop_token stop)
    : shown_(on_terminal),
      stop_(std::move(stop)),
      observe_({[this](std::string_view op) { return go_on(op); }, [this] { clear(); }}) {}

bool MeasuringNote::go_on(std::string_view op) {
  if (stop_.stop_requested()) return false;
  std::string line = fmt::format("measuring variants of {}, once for this machine …", op);
  if (shown_ && line != line_) draw_terminal_line(line_ = line);
  return true;
}

void MeasuringNote::clear() {
  if (!line_.empty()) clear_terminal_line();
  line_.clear();
}

}  // namespace treadle::cli
