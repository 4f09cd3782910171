#include "cli/format.h"

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace treadle::cli {

std::string with_commas(int64_t value) {
  const std::string digits = std::to_string(value < 0 ? -value : value);
  std::string text = value < 0 ? "-" : "";
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string clock_time(double seconds) {
  int64_t whole = int64_t(seconds + 0.5);
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string byte_size(double bytes) {
  const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  int unit = 0;
  for (; bytes >= 1000 && unit < 4; ++unit) bytes /= 1000;
  return unit ? fmt::format("{:.1f} {}", bytes, units[unit]) : fmt::format("{:.0f} B", bytes);
}

std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

size_t display_width(const std::string& text) {
  return size_t(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string table(const std::vector<std::vector<std::string>>& rows, const std::vector<size_t>& right) {
  std::vector<size_t> widths;
  for (auto& row : rows)
    for (size_t c = 0; c < row.size(); ++c) {
      if (c >= widths.size()) widths.push_back(0);
      widths[c] = std::max(widths[c], display_width(row[c]));
    }
  std::string text;
  for (auto& row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) {
      std::string padding(widths[c] - display_width(row[c]), ' ');
      bool is_right = std::count(right.begin(), right.end(), c) > 0;
      line += (c ? "  " : "") + (is_right ? padding + row[c] : row[c] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

bool on_terminal() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && !(terminal && std::string_view(terminal) == "dumb");
}

int64_t peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t(usage.ru_maxrss) * 1024;
}

}  // namespace treadle::cli
