/// How the program writes numbers, times and tables.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace treadle::cli {

/// 896522 → "896,522"
std::string with_commas(int64_t value);
/// 75.3 → "1:15"
std::string clock_time(double seconds);
/// 1536000 → "1.5 MB"
std::string byte_size(double bytes);
/// 0.9123 → "91.23 %"
std::string percent(double share);

/// Characters of a text in UTF-8, one column each.
size_t display_width(const std::string& text);

/// Columns padded to their widest cell, two spaces apart; the first row is the header. Widths count
/// characters, not bytes. Columns named in `right` are aligned right.
std::string table(const std::vector<std::vector<std::string>>& rows, const std::vector<size_t>& right = {});

/// Whether stderr is a terminal on which a line can be drawn again.
bool on_terminal();

/// Largest resident set of this process so far, in bytes.
int64_t peak_memory_bytes();

}  // namespace treadle::cli
