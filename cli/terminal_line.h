/// The one line on stderr that a running command draws again and again.
#pragma once

#include <string>
#include <vector>

namespace treadle::cli {

/// Columns of the terminal on stderr: what it says now, else $COLUMNS, else 80.
int terminal_width();

/// The text cut to `width` characters, the last of them then being "…".
std::string cut_to_width(const std::string& text, int width);

/// Parts of a line that go when there is no room: joined by two spaces, with the parts of the highest `rank`
/// left out first. A part of rank 0 stays.
struct LinePart {
  int rank;
  std::string text;
};
std::string fit_line(std::vector<LinePart> parts, int width);

/// Draws over the line that stands there. It is cut so that it leaves the last column free: some terminals
/// wrap when that one is written.
void draw_terminal_line(const std::string& text);
void clear_terminal_line();

}  // namespace treadle::cli
