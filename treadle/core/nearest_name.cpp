#include "treadle/core/nearest_name.h"

#include <fmt/core.h>

#include <algorithm>

namespace treadle {
namespace {

/// Names longer than this are not compared: nobody means one by them, and the table of distances would be
/// large.
constexpr size_t kLongest = 64;

std::string folded(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = c == '_' ? '-' : c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  return text;
}

/// Insertions, deletions, changes and exchanges of two neighbours that make b of a (restricted
/// Damerau–Levenshtein distance).
size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> least(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      size_t& here = least[i][j] = std::max(i, j);
      if (i == 0 || j == 0) continue;
      here =
          std::min({least[i - 1][j] + 1, least[i][j - 1] + 1, least[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        here = std::min(here, least[i - 2][j - 2] + 1);
    }
  return least[a.size()][b.size()];
}

/// How far a known name is from what was written; a third of the letters may differ, and the beginning of a
/// name is nearer than any slip.
size_t distance(std::string_view name, std::string_view known) {
  constexpr size_t kFar = kLongest;
  if (name.size() >= 3 && known.starts_with(name)) return 0;
  size_t count = edits(name, known);
  return 3 * count <= std::max(name.size(), known.size()) ? count : kFar;
}

}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
  size_t best = kLongest;
  std::string nearest, wanted = folded(name);
  if (name.size() >= kLongest) return nearest;
  for (const std::string& candidate : known)
    if (size_t far = distance(wanted, folded(candidate)); far < best) best = far, nearest = candidate;
  return nearest;
}

std::string suggestion(std::string_view name, const std::vector<std::string>& known) {
  std::string nearest = nearest_name(name, known);
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

std::string unknown_name(std::string_view kind, std::string_view name,
                         const std::vector<std::string>& known) {
  std::string meant = suggestion(name, known);
  return fmt::format("{} '{}'{} {} {}", kind, name, meant.empty() ? ";" : meant,
                     meant.empty() ? "known are" : "Known are", joined_names(known));
}

std::string joined_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace treadle
