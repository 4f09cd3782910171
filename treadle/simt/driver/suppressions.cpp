#include "treadle/simt/driver/suppressions.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "treadle/core/error.h"
#include "treadle/simt/driver/process.h"

namespace treadle::simt::driver {
namespace {

/// Whether the text is the pattern, in which each `*` stands for any letters.
bool matches(std::string_view pattern, std::string_view text) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  text.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  for (size_t skipped = 0; skipped <= text.size(); ++skipped)
    if (matches(pattern, text.substr(skipped))) return true;
  return false;
}

/// "b.cu" is the end of "a/b.cu", and not of "ab.cu".
bool ends_path(std::string_view path, std::string_view end) {
  return path.ends_with(end) && (path.size() == end.size() || path[path.size() - end.size() - 1] == '/');
}

bool fits_place(const Suppression& suppression, const Place& place) {
  return place.known() && ends_path(place.file, suppression.file) &&
         (suppression.line == 0 || suppression.line == place.line);
}

unsigned line_number(const std::string& text, const std::string& place) {
  if (text == "*") return 0;
  unsigned line = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), line);
  require<ValueError>(error == std::errc() && end == text.data() + text.size() && line > 0,
                      "{}: '{}' is no line; FILE:LINE or FILE:* is expected", place, text);
  return line;
}

Suppression read_line(const std::string& text, const std::string& place) {
  const size_t hash = text.find('#');
  const std::string reason = hash == std::string::npos ? "" : text.substr(hash + 1);
  Suppression suppression;
  suppression.place = place;
  std::istringstream words(text.substr(0, hash));
  std::string where, more;
  // A kernel's name may have spaces: "reduce<float, 256>".
  words >> suppression.kind;
  for (std::string word; words >> word;) {
    if (!where.empty()) suppression.kernel += (suppression.kernel.empty() ? "" : " ") + where;
    where = word;
  }
  const size_t colon = where.rfind(':');
  require<ValueError>(!suppression.kernel.empty() && colon != std::string::npos && colon > 0,
                      "{}: expected KIND KERNEL FILE:LINE  # reason", place);
  const size_t begin = reason.find_first_not_of(" \t");
  require<ValueError>(begin != std::string::npos, "{}: a suppression needs a reason, behind #", place);
  suppression.reason = reason.substr(begin);
  suppression.file = where.substr(0, colon);
  suppression.line = line_number(where.substr(colon + 1), place);
  return suppression;
}

}  // namespace

bool Suppression::fits(const Report& report) const {
  return matches(kind, report.kind) && matches(kernel, report.kernel) &&
         (fits_place(*this, report.place) || fits_place(*this, report.other));
}

std::vector<Suppression> read_suppressions(const std::string& path) {
  std::istringstream text(read_file(path));
  std::vector<Suppression> suppressions;
  std::string line;
  for (unsigned number = 1; std::getline(text, line); ++number) {
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    suppressions.push_back(read_line(line, fmt::format("{}:{}", path, number)));
  }
  return suppressions;
}

void suppress(std::vector<Report>& reports, std::vector<Suppression>& suppressions) {
  std::erase_if(reports, [&](const Report& report) {
    const auto found = std::find_if(suppressions.begin(), suppressions.end(),
                                    [&](const Suppression& suppression) { return suppression.fits(report); });
    if (found == suppressions.end()) return false;
    ++found->used;
    return true;
  });
}

}  // namespace treadle::simt::driver
