// Prints what the checker has found in the kernels, and counts it as failures of the contract.
#include <fmt/core.h>

#include <cstdlib>
#include <set>

#include "tests/contract/contract.h"
#include "treadle/simt/check/runtime/findings.h"
#include "treadle/simt/check/symbolizer.h"

namespace treadle::contract {

namespace {

std::string in_words(const simt::Place& place) {
  return place.known() ? fmt::format("{}:{}", place.file, place.line) : "an unknown place";
}

int print_reports(bool at_end) {
  if (!at_end && !checker::Findings::all().has_news()) return 0;
  simt::RunReport run = checker::Findings::all().take();
  simt::symbolize(run.reports, "/proc/self/exe");
  for (const simt::Report& report : run.reports)
    fmt::print(
        "REPORT {} in {}: {}\n  {} by block ({}, {}, {}), thread ({}, {}, {}){}; {} + {}; seen {} times\n",
        report.kind, report.kernel, report.message, in_words(report.place), report.block[0], report.block[1],
        report.block[2], report.thread[0], report.thread[1], report.thread[2],
        report.other.known() ? "; " + in_words(report.other) : "", report.allocation, report.offset,
        report.count);
  if (at_end) fmt::print("checked: {} launches, {} reports\n", run.launches, run.reports.size());
  return static_cast<int>(run.reports.size());
}

/// With TREADLE_SHOW_KERNELS set: what each variant has launched, for tests/checked/mutate.
void print_kernels(const Op& op, const Variant& variant) {
  static std::set<std::string> printed;
  for (const std::string& kernel : checker::Findings::all().take_kernels()) {
    const std::string line = fmt::format("KERNEL {} {} {}", op.name, variant.name, kernel);
    if (printed.insert(line).second) fmt::print("{}\n", line);
  }
}

[[maybe_unused]] const bool asked = [] {
  failures_seen_elsewhere = print_reports;
  if (std::getenv("TREADLE_SHOW_KERNELS") != nullptr) variant_has_run = print_kernels;
  return true;
}();

}  // namespace
}  // namespace treadle::contract
