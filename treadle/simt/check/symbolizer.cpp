#include "treadle/simt/check/symbolizer.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>

#include "treadle/core/error.h"
#include "treadle/simt/function_names.h"

namespace treadle::simt {
namespace {

/// Addresses that go through one command line.
constexpr size_t kAddressesAtOnce = 2000;

/// "file:12" or "file:12 (discriminator 3)".
Place place_of(const std::string& function, const std::string& position) {
  const size_t colon = position.rfind(':');
  Place place;
  place.file = position.substr(0, colon);
  place.line =
      colon == std::string::npos ? 0 : static_cast<unsigned>(std::strtoul(&position[colon + 1], nullptr, 10));
  place.function = without_parameters(function);
  return place;
}

/// The chain of inlined calls, innermost first, as pairs of lines.
Place best_place(const std::vector<std::string>& lines, size_t begin, size_t end) {
  Place best;
  for (size_t i = begin; i + 1 < end; i += 2) {
    const Place place = place_of(lines[i], lines[i + 1]);
    if (place.line == 0) continue;
    if (!best.known()) best = place;
    if (of_the_program(place.file)) return place;
  }
  return best;
}

void fill_in(Place& place, const std::map<uint64_t, Place>& places) {
  if (place.address == 0 || place.known()) return;
  const auto found = places.find(place.address);
  if (found == places.end() || !found->second.known()) return;
  place.file = found->second.file;
  place.line = found->second.line;
  place.function = found->second.function;
}

}  // namespace

bool of_the_program(const std::string& file) {
  return file.find("/treadle/simt/") == std::string::npos && !file.starts_with("/usr/include/") &&
         !file.starts_with("/usr/lib/") && file != "??";
}

std::string quoted_for_shell(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

std::string shortened_path(const std::string& file) {
  std::error_code error;
  std::string path = std::filesystem::path(file).lexically_normal().string();
  const std::string folder = std::filesystem::current_path(error).string() + "/";
  if (!error && path.starts_with(folder)) path.erase(0, folder.size());
  return path;
}

std::vector<std::string> output_lines(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::vector<std::string> lines;
  if (pipe == nullptr) return lines;
  std::unique_ptr<char, decltype(&std::free)> line(nullptr, std::free);
  char* text = nullptr;
  size_t capacity = 0;
  for (ssize_t size; (size = getline(&text, &capacity, pipe.get())) >= 0;)
    lines.emplace_back(text, static_cast<size_t>(size) - (size > 0 && text[size - 1] == '\n'));
  line.reset(text);
  return lines;
}

void find_places(std::map<uint64_t, Place>& places, const std::string& program) {
  auto next = places.begin();
  while (next != places.end()) {
    std::string command = "addr2line -e " + quoted_for_shell(program) + " -a -f -C -i";
    auto end = next;
    for (size_t i = 0; i < kAddressesAtOnce && end != places.end(); ++i, ++end)
      command += fmt::format(" {:#x}", end->first);
    const std::vector<std::string> lines = output_lines(command + " 2>/dev/null");
    // With -a each address stands before its lines.
    for (size_t i = 0; i < lines.size() && next != end;) {
      size_t stop = i + 1;
      while (stop < lines.size() && !lines[stop].starts_with("0x")) ++stop;
      (next++)->second = best_place(lines, i + 1, stop);
      i = stop;
    }
    next = end;
  }
}

void symbolize(std::vector<Report>& reports, const std::string& program) {
  std::map<uint64_t, Place> places;
  for (const Report& report : reports)
    for (const Place* place : {&report.place, &report.other})
      if (place->address != 0 && !place->known()) places[place->address];
  if (places.empty()) return;
  find_places(places, program);
  for (Report& report : reports) {
    fill_in(report.place, places);
    fill_in(report.other, places);
  }
}

}  // namespace treadle::simt
