#include "treadle/plots/confusion_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "treadle/core/error.h"
#include "treadle/plots/svg.h"

namespace treadle {
namespace {

constexpr size_t kMostCounted = 20;

/// From white to dark blue.
std::string shade(double share) {
  auto mixed = [share](int from, int to) { return int(from + (to - from) * share); };
  return fmt::format("#{:02x}{:02x}{:02x}", mixed(255, 8), mixed(255, 69), mixed(255, 148));
}

size_t longest(const std::vector<std::string>& names) {
  size_t length = 0;
  for (const std::string& name : names) length = std::max(length, name.size());
  return length;
}

}  // namespace

std::string draw_confusion(const std::vector<std::string>& classes,
                           const std::vector<std::vector<int64_t>>& confusion) {
  const size_t count = classes.size();
  require<ValueError>(count > 0 && confusion.size() == count, "draw_confusion: {} names for {} rows", count,
                      confusion.size());
  const double cell = count <= kMostCounted ? 42 : std::max(4.0, 840.0 / double(count));
  const double left = 46 + 6.6 * double(longest(classes)), top = 50, side = cell * double(count);
  Svg svg(left + side + 20, top + side + 30 + 5 * double(longest(classes)) + 20);
  svg.text(left, 26, "Confusion matrix", {.size = 15});
  for (size_t row = 0; row < count; ++row) {
    require<ValueError>(confusion[row].size() == count, "draw_confusion: row {} has {} of {} columns", row,
                        confusion[row].size(), count);
    const int64_t total = std::accumulate(confusion[row].begin(), confusion[row].end(), int64_t(0));
    for (size_t column = 0; column < count; ++column) {
      const double share = total ? double(confusion[row][column]) / double(total) : 0;
      const double x = left + cell * double(column), y = top + cell * double(row);
      svg.rectangle(x, y, cell, cell, shade(share), "#d0d0d0");
      if (count <= kMostCounted && confusion[row][column] > 0)
        svg.text(x + cell / 2, y + cell / 2 + 4, std::to_string(confusion[row][column]),
                 {.anchor = Anchor::middle, .size = 11, .colour = share > 0.5 ? "white" : "#333333"});
    }
    if (count > 2 * kMostCounted) continue;
    const double middle = cell * (double(row) + 0.5);
    svg.text(left - 6, top + middle + 4, classes[row], {.anchor = Anchor::end});
    svg.text(left + middle + 3, top + side + 14, classes[row], {.anchor = Anchor::end, .turned = -45});
  }
  svg.text(16, top + side / 2, "label", {.anchor = Anchor::middle, .turned = -90});
  svg.text(left + side, top - 8, "answer", {.anchor = Anchor::end});
  return svg.finished();
}

}  // namespace treadle
