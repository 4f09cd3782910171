#include "treadle/simt/driver/joined_accesses.h"

namespace treadle::simt::driver {
namespace {

constexpr std::string_view kSpace = " \t";

std::string_view trimmed(std::string_view line) {
  const size_t begin = std::min(line.find_first_not_of(kSpace), line.size());
  return line.substr(begin, line.find_last_not_of(kSpace) + 1 - begin);
}

/// "__tsan_write4" of "call __tsan_write4", with or without "@PLT"; else empty.
std::string_view called(std::string_view line) {
  if (!line.starts_with("call")) return {};
  const size_t begin = line.find_first_of(kSpace);
  if (begin == std::string_view::npos) return {};
  const std::string_view name = trimmed(line.substr(begin));
  return name.substr(0, name.find('@'));
}

bool is_access(std::string_view name) {
  for (const std::string_view start : {"__tsan_read", "__tsan_write"})
    if (name.starts_with(start) && (name.ends_with("4") || name.ends_with("8")) &&
        name.size() == start.size() + 1)
      return true;
  return false;
}

/// ".loc 1 12 5": file, line and column, without what may stand behind.
std::string_view place_of(std::string_view directive) {
  size_t end = std::string_view(".loc").size();
  for (int number = 0; number < 3; ++number)
    end =
        std::min(directive.find_first_of(kSpace, directive.find_first_not_of(kSpace, end)), directive.size());
  return directive.substr(0, end);
}

}  // namespace

std::string with_joined_accesses(std::string_view assembly) {
  std::string result;
  result.reserve(assembly.size() + assembly.size() / 64);
  std::string_view place, last_place, last_call;
  for (size_t begin = 0; begin < assembly.size();) {
    const size_t end = std::min(assembly.find('\n', begin), assembly.size());
    const std::string_view whole = assembly.substr(begin, end - begin), line = trimmed(whole);
    begin = end + 1;
    std::string_view name;
    if (line.starts_with(".loc")) {
      place = place_of(line);
    } else if (name = called(line); !name.empty()) {
      if (!is_access(name)) {
        last_call = {};
      } else {
        const bool more = name == last_call && place == last_place;
        last_call = name;
        last_place = place;
        if (more) {
          result.append("\tcall\t__treadle").append(name.substr(std::string_view("__tsan").size()));
          result.append("_more\n");
          continue;
        }
      }
    } else if (line.ends_with(":") && !line.starts_with(".L")) {
      last_call = {};  // another function
    }
    result.append(whole).push_back('\n');
  }
  return result;
}

}  // namespace treadle::simt::driver
