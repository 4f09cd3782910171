#include "treadle/simt/driver/red_zones.h"

#include <algorithm>
#include <charconv>

#include "treadle/core/error.h"

namespace treadle::simt::driver {
namespace {

std::string_view trimmed(std::string_view line) {
  const size_t begin = line.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view() : line.substr(begin);
}

/// The bytes of "\t.align 32"; 1 for other lines.
int alignment_in(std::string_view line) {
  for (const std::string_view directive : {".align", ".balign"}) {
    if (!line.starts_with(directive)) continue;
    const std::string_view number = trimmed(line.substr(directive.size()));
    int bytes = 1;
    std::from_chars(number.data(), number.data() + number.size(), bytes);
    return bytes;
  }
  return 1;
}

bool begins_section(std::string_view line) {
  return line.starts_with(".section") || line.starts_with(".text") || line.starts_with(".data") ||
         line.starts_with(".bss") || line.starts_with(".previous") || line.starts_with(".popsection");
}

bool of_thread_locals(std::string_view section) {
  return section.find(".tbss") != std::string_view::npos || section.find(".tdata") != std::string_view::npos;
}

}  // namespace

std::string with_red_zones(std::string_view assembly) {
  std::string result;
  result.reserve(assembly.size() + assembly.size() / 16);
  bool thread_locals = false;
  int alignment = 1;
  for (size_t begin = 0; begin < assembly.size();) {
    const size_t end = std::min(assembly.find('\n', begin), assembly.size());
    const std::string_view line = trimmed(assembly.substr(begin, end - begin));
    result.append(assembly.substr(begin, end - begin)).append("\n");
    if (begins_section(line)) {
      thread_locals = of_thread_locals(line);
      alignment = 1;
    }
    alignment = std::max(alignment, alignment_in(line));
    if (thread_locals && line.starts_with(".type") && line.ends_with("@object"))
      result += fmt::format("\t.zero {}\n", std::max(alignment, kRedZoneBytes));
    begin = end + 1;
  }
  return result;
}

}  // namespace treadle::simt::driver
