#include "cli/simt/report_json.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/simt/report_kinds.h"
#include "treadle/core/version.h"

namespace treadle::cli {
namespace {

Json list_of(const simt::Coordinates& c) { return std::vector<Json>{c[0], c[1], c[2]}; }

/// What RFC 3986 leaves as it is in a path.
bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~/").find(c) != std::string_view::npos;
}

std::string uri_of(const std::string& path) {
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path)
    uri += is_plain(c) ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return uri;
}

Json location_of(const simt::Place& place) {
  return {{"artifactLocation", Json{{"uri", uri_of(place.file)}}},
          {"region", Json{{"startLine", place.line}}}};
}

Json rule_of(const ReportKind& kind) {
  return {{"id", kind.name},
          {"shortDescription", Json{{"text", kind.description}}},
          {"defaultConfiguration", Json{{"level", "error"}}}};
}

Json result_of(const simt::Report& report) {
  Json result{{"ruleId", report.kind},
              {"level", "error"},
              {"message", Json{{"text", report.message}}},
              {"occurrenceCount", int64_t(report.count)},
              {"properties", json_of(report)}};
  Json location;
  if (report.place.known()) {
    location = Json{{"physicalLocation", location_of(report.place)}};
    if (!report.kernel.empty())
      location.add("logicalLocations",
                   std::vector<Json>{Json{{"fullyQualifiedName", report.kernel}, {"kind", "function"}}});
    result.add("locations", std::vector<Json>{location});
  }
  if (report.other.known())
    result.add("relatedLocations",
               std::vector<Json>{Json{{"id", 1},
                                      {"physicalLocation", location_of(report.other)},
                                      {"message", Json{{"text", other_place_text(report)}}}}});
  return result;
}

}  // namespace

Json json_of(const simt::Report& report) {
  return {{"kind", report.kind},
          {"message", report.message},
          {"kernel", report.kernel.empty() ? "-" : report.kernel},
          {"file", report.place.file},
          {"line", report.place.line},
          {"function", report.place.function},
          {"other_file", report.other.file},
          {"other_line", report.other.line},
          {"block", list_of(report.block)},
          {"thread", list_of(report.thread)},
          {"other_block", list_of(report.other_block)},
          {"other_thread", list_of(report.other_thread)},
          {"allocation", report.allocation},
          {"offset", report.offset},
          {"bytes", int64_t(report.bytes)},
          {"count", int64_t(report.count)},
          {"launch", int64_t(report.launch)}};
}

Json sarif_of(const simt::RunReport& run) {
  std::vector<Json> rules, results;
  for (const ReportKind& kind : report_kinds())
    if (std::any_of(run.reports.begin(), run.reports.end(),
                    [&](const auto& report) { return report.kind == kind.name; }))
      rules.push_back(rule_of(kind));
  for (const simt::Report& report : run.reports) results.push_back(result_of(report));
  const Json driver{{"name", "treadle simt check"}, {"version", version()}, {"rules", rules}};
  const Json one{
      {"tool", Json{{"driver", driver}}}, {"results", results}, {"columnKind", "unicodeCodePoints"}};
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs", std::vector<Json>{one}}};
}

}  // namespace treadle::cli
