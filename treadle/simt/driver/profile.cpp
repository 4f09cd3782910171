#include "treadle/simt/driver/profile.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>

#include "treadle/simt/check/symbolizer.h"
#include "treadle/simt/profile/disassembly.h"

namespace treadle::simt::driver {
namespace {

std::string whole_path(const std::string& file) {
  std::error_code error;
  return std::filesystem::absolute(file, error).lexically_normal().string();
}

/// The stretches that were run.
StretchesOfCode code_of(const ProfileReport& report, const std::string& program) {
  uint64_t begin = UINT64_MAX, end = 0;
  for (const KernelCounters& kernel : report.kernels)
    for (const BlockSite& site : kernel.code) {
      begin = std::min(begin, site.address);
      end = std::max(end, site.address);
    }
  if (end == 0) return {};
  // The call before the first, and as much as a stretch may have behind the last.
  constexpr uint64_t kCallBytes = 5, kLongStretch = 65536;
  const std::vector<std::string> lines = output_lines(
      fmt::format("objdump -d --no-show-raw-insn --start-address={:#x} --stop-address={:#x} {} 2>/dev/null",
                  begin - kCallBytes, end + kLongStretch, quoted_for_shell(program)));
  return stretches_of({lines.begin(), lines.end()});
}

/// Gathers the counters of one kernel by line.
class ByLine {
 public:
  explicit ByLine(const std::map<uint64_t, Place>& places) : places_(places) {}

  LineCounters* at(const Place& place) {
    if (place.known()) return line(place);
    const auto found = places_.find(place.address);
    return found == places_.end() || !found->second.known() ? nullptr : line(found->second);
  }
  LineCounters* at(uint64_t address) {
    Place place;
    place.address = address;
    return at(place);
  }

  std::vector<Line> lines() const {
    std::vector<Line> result;
    for (const auto& [where, counters] : lines_) result.push_back({where.first, where.second, counters});
    return result;
  }

 private:
  /// Null for a line of the headers that programs include.
  LineCounters* line(const Place& place) {
    const std::string path = whole_path(place.file);
    return of_the_program(path) ? &lines_[{shortened_path(path), place.line}] : nullptr;
  }

  const std::map<uint64_t, Place>& places_;
  std::map<std::pair<std::string, unsigned>, LineCounters> lines_;
};

/// The first three numbers behind a text, multiplied: "combine_product<16, 16, 8, __half>" has 2,048.
uint64_t product_of_numbers(std::string_view text, std::string_view start) {
  text.remove_prefix(text.find(start) + start.size());
  uint64_t product = 1;
  for (int i = 0; i < 3; ++i) {
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return 0;
    product *= number;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    text.remove_prefix(std::min(text.find_first_not_of(", "), text.size()));
  }
  return product;
}

/// Of a product of tensor cores, by the name of the function that computes it (wmma.h, mma.h); 0 of other
/// functions.
uint64_t tensor_operations_of(std::string_view function) {
  constexpr std::string_view kWmma = "combine_product<", kMma = "combine_mma<";
  if (function.find(kWmma) != std::string_view::npos) return 2 * product_of_numbers(function, kWmma);
  return function.find(kMma) != std::string_view::npos ? 2 * 16 * 8 * 16 : 0;
}

void add_code(ByLine& lines, const BlockSite& site, const StretchesOfCode& code) {
  const auto stretch = code.find(site.address);
  if (stretch == code.end()) return;
  for (const Instruction& instruction : stretch->second) {
    LineCounters* const line = lines.at(instruction.address);
    if (line == nullptr) continue;
    line->warp_instructions += site.runs;
    line->lane_instructions += site.lanes;
    line->single.add(instruction.single, site.lanes);
    line->twice.add(instruction.twice, site.lanes);
    if (instruction.is_function) line->functions += site.lanes;
  }
}

KernelProfile profile_of(KernelCounters kernel, const StretchesOfCode& code,
                         const std::map<uint64_t, Place>& places) {
  ByLine lines(places);
  for (const AccessSite& site : kernel.accesses)
    if (LineCounters* const line = lines.at(site.place))
      line->of(site.counters.space, site.counters.kind).add(site.counters);
  for (const MeetingSite& site : kernel.meetings)
    if (LineCounters* const line = lines.at(site.place)) {
      (site.kind == MeetingKind::barrier ? line->barriers : line->collectives) += site.warps;
      if (const auto function = places.find(site.function); function != places.end())
        line->tensor_operations += site.warps * tensor_operations_of(function->second.function);
    }
  for (const BlockSite& site : kernel.code) add_code(lines, site, code);
  kernel.accesses.clear();
  kernel.code.clear();
  kernel.meetings.clear();
  KernelProfile profile{std::move(kernel), lines.lines(), {}};
  for (const Line& line : profile.lines) profile.total.add(line.counters);
  return profile;
}

std::map<uint64_t, Place> places_of(const ProfileReport& report, const StretchesOfCode& code,
                                    const std::string& program) {
  std::map<uint64_t, Place> places;
  for (const KernelCounters& kernel : report.kernels) {
    for (const MeetingSite& site : kernel.meetings)
      if (site.function != 0) places[site.function];
    for (const AccessSite& site : kernel.accesses)
      if (!site.place.known()) places[site.place.address];
    for (const BlockSite& site : kernel.code)
      if (const auto stretch = code.find(site.address); stretch != code.end())
        for (const Instruction& instruction : stretch->second) places[instruction.address];
  }
  find_places(places, program);
  return places;
}

}  // namespace

ProfiledRun run_profiled(const Process& process) {
  const ReportingEnd ended = run_for_report(process);
  ProfiledRun result;
  result.end = ended.end;
  result.complete = !ended.report.empty();
  if (!result.complete) return result;
  ProfileReport report = profile_from_json(ended.report);
  result.launches = report.launches;
  result.seconds = report.seconds;
  const StretchesOfCode code = code_of(report, process.words[0]);
  const std::map<uint64_t, Place> places = places_of(report, code, process.words[0]);
  for (KernelCounters& kernel : report.kernels)
    result.kernels.push_back(profile_of(std::move(kernel), code, places));
  return result;
}

}  // namespace treadle::simt::driver
