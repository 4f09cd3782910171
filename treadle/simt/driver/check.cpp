#include "treadle/simt/driver/check.h"

#include <algorithm>
#include <tuple>

#include "treadle/simt/check/symbolizer.h"
#include "treadle/simt/function_names.h"

namespace treadle::simt::driver {
namespace {

auto order_of(const Place& place) { return std::tie(place.file, place.line); }

/// Equal for reports that are one: kind, kernel, allocation and both places, in either order.
auto group_of(const Report& report) {
  const Place *first = &report.place, *second = &report.other;
  if (order_of(*second) < order_of(*first)) std::swap(first, second);
  return std::tie(report.kind, report.kernel, report.allocation, first->file, first->line, second->file,
                  second->line);
}

/// Whether it is what the compiler's test of an index has found, before an access that has a report of its
/// own.
bool is_index_of(const Report& index, const Report& access) {
  return index.kind == "out-of-bounds" && access.kind == index.kind && index.bytes == 0 && access.bytes > 0 &&
         order_of(index.place) == order_of(access.place);
}

/// File and function as the user would write them.
void shorten(Place& place) {
  place.file = shortened_path(place.file);
  place.function = without_parameters(place.function);
}

}  // namespace

std::vector<Report> grouped(std::vector<Report> reports) {
  std::stable_partition(reports.begin(), reports.end(),
                        [](const Report& report) { return report.bytes > 0; });
  std::vector<Report> result;
  for (Report& report : reports) {
    if (std::any_of(result.begin(), result.end(), [&](const Report& r) { return is_index_of(report, r); }))
      continue;
    const auto same = std::find_if(result.begin(), result.end(),
                                   [&](const Report& other) { return group_of(other) == group_of(report); });
    if (same == result.end())
      result.push_back(std::move(report));
    else
      same->count += report.count;
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Report& a, const Report& b) { return order_of(a.place) < order_of(b.place); });
  return result;
}

CheckedRun run_checked(const Process& process) {
  const ReportingEnd ended = run_for_report(process);
  CheckedRun result;
  result.end = ended.end;
  result.complete = !ended.report.empty();
  if (!result.complete) return result;
  result.report = run_report_from_json(ended.report);
  symbolize(result.report.reports, process.words[0]);
  for (Report& report : result.report.reports) {
    shorten(report.place);
    shorten(report.other);
  }
  result.report.reports = grouped(std::move(result.report.reports));
  return result;
}

}  // namespace treadle::simt::driver
