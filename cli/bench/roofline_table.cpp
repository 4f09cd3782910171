#include "cli/bench/roofline_table.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/format.h"

namespace treadle::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + cell + " |";
  return line + "\n";
}

/// Columns from `first_number` on are aligned right.
void print_table(const Rows& rows, size_t first_number, TableStyle style) {
  std::vector<size_t> right;
  for (size_t i = first_number; i < rows[0].size(); ++i) right.push_back(i);
  if (style == TableStyle::plain) return fmt::print("{}", table(rows, right));
  std::string text = markdown_row(rows[0]);
  std::vector<std::string> rule(rows[0].size(), "---:");
  std::fill_n(rule.begin(), first_number, "---");
  text += markdown_row(rule);
  for (size_t i = 1; i < rows.size(); ++i) text += markdown_row(rows[i]);
  fmt::print("{}", text);
}

std::string giga(double rate) { return fmt::format("{:.1f}", rate / 1e9); }
std::string micro(double seconds) { return fmt::format("{:.1f}", 1e6 * seconds); }

std::vector<std::string> step_row(const StepCost& cost, double least) {
  return {cost.name,
          cost.variant,
          fmt::format("{:.3f}", cost.flops / 1e6),
          fmt::format("{:.1f}", cost.bytes / 1e3),
          micro(cost.seconds),
          giga(cost.flops / cost.seconds),
          giga(cost.bytes / cost.seconds),
          micro(least),
          fmt::format("{:.0f} %", 100 * least / cost.seconds)};
}

}  // namespace

double least_seconds(const StepCost& cost, const ThreadCeilings& ceilings) {
  return std::max(cost.flops / ceilings.operations, cost.bytes / level_for(ceilings, cost.bytes).read);
}

void print_ceilings(const Ceilings& ceilings, TableStyle style) {
  const std::string one = "1 thread", all = fmt::format("{} threads", ceilings.all.threads);
  Rows rows{{"ceiling", one, all},
            {fmt::format("f32 multiply-adds, {}, GF/s", ceilings.vectors), giga(ceilings.one.operations),
             giga(ceilings.all.operations)}};
  for (size_t i = 0; i < ceilings.one.levels.size() && i < ceilings.all.levels.size(); ++i) {
    const MemoryLevel &a = ceilings.one.levels[i], &b = ceilings.all.levels[i];
    rows.push_back({fmt::format("{}, read, GB/s", a.name), giga(a.read), giga(b.read)});
    rows.push_back({fmt::format("{}, write, GB/s", a.name), giga(a.write), giga(b.write)});
  }
  rows.push_back(
      {"start of a parallel region, µs", "", fmt::format("{:.2f}", 1e6 * ceilings.region_seconds)});
  rows.push_back(
      {"op on one element, op by op, µs", fmt::format("{:.2f}", 1e6 * ceilings.op_call_seconds), ""});
  print_table(rows, 1, style);
}

void print_roofline(std::span<const StepCost> costs, const Ceilings& ceilings, double step_seconds,
                    TableStyle style) {
  Rows rows{{"step", "variant", "MFLOP", "kB", "µs", "GF/s", "GB/s", "limit µs", "share of the limit"}};
  StepCost total{"sum of the steps", "", 0, 0, 0};
  double least = 0;
  for (const StepCost& cost : costs) {
    rows.push_back(step_row(cost, least_seconds(cost, ceilings.all)));
    total.flops += cost.flops, total.bytes += cost.bytes, total.seconds += cost.seconds;
    least += least_seconds(cost, ceilings.all);
  }
  rows.push_back(step_row(total, least));
  rows.push_back({"between the steps", "", "", "", micro(step_seconds - total.seconds), "", "", "", ""});
  total.name = "whole step", total.seconds = step_seconds;
  rows.push_back(step_row(total, least));
  print_table(rows, 2, style);
}

}  // namespace treadle::cli
