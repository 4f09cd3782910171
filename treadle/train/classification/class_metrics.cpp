#include "treadle/train/classification/class_metrics.h"

#include <algorithm>
#include <numeric>

#include "treadle/core/error.h"

namespace treadle {
namespace {

double share(int64_t part, int64_t whole) { return whole > 0 ? double(part) / double(whole) : 0; }

void add(ClassFigures& sum, const ClassFigures& figures) {
  sum.precision += figures.precision, sum.recall += figures.recall, sum.f1 += figures.f1;
}

}  // namespace

ClassMetrics class_metrics(const ConfusionMatrix& confusion) {
  ClassMetrics metrics;
  int64_t seen = 0;
  for (size_t i = 0; i < confusion.size(); ++i) {
    require<ValueError>(confusion[i].size() == confusion.size(), "class_metrics: row {} has {} of {} columns",
                        i, confusion[i].size(), confusion.size());
    const int64_t right = confusion[i][i];
    const int64_t labelled = std::accumulate(confusion[i].begin(), confusion[i].end(), int64_t(0));
    int64_t answered = 0;
    for (const auto& row : confusion) answered += i < row.size() ? row[i] : 0;
    metrics.classes.push_back(
        {share(right, answered), share(right, labelled), share(2 * right, labelled + answered)});
    if (labelled + answered == 0) continue;
    add(metrics.macro, metrics.classes.back());
    ++seen;
  }
  const double scale = 1 / double(std::max<int64_t>(seen, 1));
  metrics.macro.precision *= scale, metrics.macro.recall *= scale, metrics.macro.f1 *= scale;
  return metrics;
}

}  // namespace treadle
