#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace treadle {

/// What lies between the separators: one part more than there are of them, and parts may be empty.
inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace treadle
