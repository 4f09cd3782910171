#include "cli/profile_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/bench/roofline_table.h"
#include "cli/format.h"

namespace treadle::cli {
namespace {

/// Sums over all profiled steps.
struct Row {
  std::string op, variant;
  int64_t runs = 0;
  double seconds = 0, operations = 0, bytes = 0;
  double least = 0;  ///< seconds at the machine's limits
};

std::vector<Row> rows_of(const std::vector<ProfiledRun>& runs, const ThreadCeilings* ceilings) {
  std::map<std::pair<std::string, std::string>, Row> sums;
  for (const ProfiledRun& run : runs) {
    Row& row = sums[{run.op, run.variant}];
    row.op = run.op, row.variant = run.variant, ++row.runs;
    row.seconds += run.seconds, row.operations += run.operations, row.bytes += run.bytes;
    if (ceilings)
      row.least += least_seconds({run.op, run.variant, run.operations, run.bytes, run.seconds}, *ceilings);
  }
  std::vector<Row> rows;
  for (auto& [name, row] : sums) rows.push_back(std::move(row));
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.seconds > b.seconds; });
  return rows;
}

/// One decimal where that is not nothing.
std::string short_number(double value) {
  return value == 0 ? "-" : value < 9.95 ? fmt::format("{:.2f}", value) : fmt::format("{:.1f}", value);
}

std::vector<std::string> cells_of(const Row& row, double steps, double all_seconds, bool has_bound) {
  const bool timed = row.seconds > 0;
  return {row.op,
          row.variant,
          row.runs ? fmt::format("{:.4g}", double(row.runs) / steps) : "",
          fmt::format("{:.3f}", 1e3 * row.seconds / steps),
          percent(row.seconds / all_seconds),
          row.runs ? short_number(row.operations / steps / 1e6) : "",
          row.runs ? short_number(row.bytes / steps / 1e6) : "",
          row.runs && timed ? short_number(row.operations / row.seconds / 1e9) : "",
          row.runs && timed ? short_number(row.bytes / row.seconds / 1e9) : "",
          has_bound && row.runs && timed ? fmt::format("{:.0f} %", 100 * row.least / row.seconds) : ""};
}

}  // namespace

std::string profile_table(const std::vector<ProfiledStep>& steps, const std::vector<ProfiledRun>& runs,
                          const ThreadCeilings* ceilings) {
  double all_seconds = 0, in_ops = 0;
  for (const ProfiledStep& step : steps) all_seconds += step.seconds;
  for (const ProfiledRun& run : runs) in_ops += run.seconds;
  std::vector<std::vector<std::string>> table_rows{{"op", "variant", "runs", "ms", "share", "MFLOP", "MB",
                                                    "GFLOP/s", "GB/s", ceilings ? "of the limit" : ""}};
  const auto count = double(steps.size());
  for (const Row& row : rows_of(runs, ceilings))
    table_rows.push_back(cells_of(row, count, all_seconds, ceilings != nullptr));
  table_rows.push_back(
      cells_of({.op = "outside of ops", .variant = "", .seconds = std::max(all_seconds - in_ops, 0.0)}, count,
               all_seconds, false));
  table_rows.push_back(
      cells_of({.op = "a step", .variant = "", .seconds = all_seconds}, count, all_seconds, false));
  return table(table_rows, {2, 3, 4, 5, 6, 7, 8, 9});
}

}  // namespace treadle::cli
