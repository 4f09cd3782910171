#include "cli/simt/report_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "cli/format.h"

namespace treadle::cli {
namespace {

constexpr const char* kBold = "\033[1m";
constexpr const char* kRed = "\033[1;31m";
constexpr const char* kBlue = "\033[34m";
constexpr const char* kPlain = "\033[0m";

/// Puts on a colour, or nothing.
struct Colors {
  bool on;
  std::string operator()(const char* color, const std::string& text) const {
    return on ? color + text + kPlain : text;
  }
};

/// The line of the file without spaces at its end; empty where there is none.
std::string source_line(const simt::Place& place) {
  std::ifstream file(place.file);
  std::string line;
  for (unsigned number = 0; number < place.line; ++number)
    if (!std::getline(file, line)) return "";
  line.erase(line.find_last_not_of(" \t\r") + 1);
  std::replace(line.begin(), line.end(), '\t', ' ');
  return line;
}

/// The source line with its number, and below it a line that marks what is said there.
std::string quoted_line(const simt::Place& place, const Colors& colors) {
  const std::string line = source_line(place);
  const size_t begin = line.find_first_not_of(' ');
  if (begin == std::string::npos) return "";
  const std::string mark = "^" + std::string(display_width(line.substr(begin)) - 1, '~');
  return fmt::format("{} {}\n{} {}{}\n", colors(kBlue, fmt::format("{:>6} |", place.line)), line,
                     colors(kBlue, "       |"), std::string(begin, ' '), colors(kRed, mark));
}

std::string coordinates(const simt::Coordinates& c) { return fmt::format("({}, {}, {})", c[0], c[1], c[2]); }

std::string place_text(const simt::Place& place, const Colors& colors) {
  if (!place.known()) return "";
  return fmt::format("  at {}{}\n", colors(kBold, fmt::format("{}:{}", place.file, place.line)),
                     place.function.empty() ? "" : " in " + place.function);
}

std::string who(const simt::Coordinates& block, const simt::Coordinates& thread) {
  return fmt::format("  by block {}, thread {}\n", coordinates(block), coordinates(thread));
}

bool in_kernel(const simt::Report& report) {
  return !report.kernel.empty() && report.kind != "leak" && report.kind != "api";
}

/// Whether the second place is an access of another thread, or another barrier, and not an allocation.
bool has_other_thread(const simt::Report& report) {
  return report.other.known() && (report.kind == "race" || report.other_block != simt::Coordinates{} ||
                                  report.other_thread != simt::Coordinates{});
}

std::string where_in_memory(const simt::Report& report) {
  if (report.allocation.empty()) return "";
  std::string text = "  in " + report.allocation;
  if (report.bytes > 0) text += fmt::format(", {} byte(s) at offset {}", report.bytes, report.offset);
  return text + "\n";
}

std::string how_often(const simt::Report& report) {
  std::string text =
      fmt::format("  {}", report.count == 1 ? "once" : with_commas(int64_t(report.count)) + " times");
  if (!report.kernel.empty()) text += fmt::format(", kernel {}", report.kernel);
  if (report.launch > 0) text += fmt::format(", first in launch {}", report.launch);
  return text + "\n";
}

}  // namespace

std::string text_of(const simt::Report& report, bool color) {
  const Colors colors{color};
  std::string text = fmt::format("{} {}\n", colors(kRed, report.kind + ":"), colors(kBold, report.message));
  text += place_text(report.place, colors) + quoted_line(report.place, colors);
  if (in_kernel(report)) text += who(report.block, report.thread);
  if (report.other.known()) {
    text += place_text(report.other, colors) + quoted_line(report.other, colors);
    if (has_other_thread(report)) text += who(report.other_block, report.other_thread);
  }
  return text + where_in_memory(report) + how_often(report);
}

std::string count_text(const std::vector<simt::Report>& reports) {
  std::map<std::string, int> kinds;
  for (const simt::Report& report : reports) ++kinds[report.kind];
  std::string text;
  for (const auto& [kind, count] : kinds)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, kind);
  return fmt::format("{} report{}: {}", reports.size(), reports.size() == 1 ? "" : "s", text);
}

}  // namespace treadle::cli
