#include "cli/terminal_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cli/format.h"

namespace treadle::cli {
namespace {

constexpr int kUsualWidth = 80;

/// The value of $COLUMNS; 0 when it is unset or no number.
int columns_in_environment() {
  const char* text = std::getenv("COLUMNS");
  int width = 0;
  if (text) std::from_chars(text, text + std::strlen(text), width);
  return width;
}

std::string joined(const std::vector<LinePart>& parts) {
  std::string line;
  for (const LinePart& part : parts) line += (line.empty() ? "" : "  ") + part.text;
  return line;
}

}  // namespace

int terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const int width = columns_in_environment();
  return width > 0 ? width : kUsualWidth;
}

std::string cut_to_width(const std::string& text, int width) {
  if (int(display_width(text)) <= width) return text;
  if (width <= 0) return "";
  int characters = 0;
  size_t end = 0;
  for (; end < text.size(); ++end)
    if ((text[end] & 0xc0) != 0x80 && ++characters == width) break;
  return text.substr(0, end) + "…";
}

std::string fit_line(std::vector<LinePart> parts, int width) {
  auto by_rank = [](const LinePart& a, const LinePart& b) { return a.rank < b.rank; };
  while (int(display_width(joined(parts))) > width) {
    auto least = std::max_element(parts.begin(), parts.end(), by_rank);
    if (least == parts.end() || least->rank == 0) break;
    parts.erase(least);
  }
  return cut_to_width(joined(parts), width);
}

void draw_terminal_line(const std::string& text) {
  // One call, and no error when the terminal is gone.
  std::fputs(("\r\033[K" + cut_to_width(text, terminal_width() - 1)).c_str(), stderr);
}

void clear_terminal_line() { std::fputs("\r\033[K", stderr); }

}  // namespace treadle::cli
