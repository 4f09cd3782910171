#include "treadle/simt/check/report.h"

#include <nlohmann/json.hpp>

#include "treadle/core/error.h"

namespace treadle::simt {
namespace {

using Json = nlohmann::json;

Json place_json(const Place& place) {
  return {
      {"address", place.address}, {"file", place.file}, {"line", place.line}, {"function", place.function}};
}

Place place_of(const Json& json) {
  return {json.at("address"), json.at("file"), json.at("line"), json.at("function")};
}

Json report_json(const Report& report) {
  return {{"kind", report.kind},
          {"message", report.message},
          {"kernel", report.kernel},
          {"place", place_json(report.place)},
          {"other", place_json(report.other)},
          {"block", report.block},
          {"thread", report.thread},
          {"other_block", report.other_block},
          {"other_thread", report.other_thread},
          {"allocation", report.allocation},
          {"offset", report.offset},
          {"bytes", report.bytes},
          {"count", report.count},
          {"launch", report.launch}};
}

Report report_of(const Json& json) {
  return {.kind = json.at("kind"),
          .message = json.at("message"),
          .kernel = json.at("kernel"),
          .place = place_of(json.at("place")),
          .other = place_of(json.at("other")),
          .block = json.at("block"),
          .thread = json.at("thread"),
          .other_block = json.at("other_block"),
          .other_thread = json.at("other_thread"),
          .allocation = json.at("allocation"),
          .offset = json.at("offset"),
          .bytes = json.at("bytes"),
          .count = json.at("count"),
          .launch = json.at("launch")};
}

}  // namespace

std::string to_json(const RunReport& run) {
  Json reports = Json::array();
  for (const Report& report : run.reports) reports.push_back(report_json(report));
  const Json json = {{"program", run.program},   {"schedule", run.schedule}, {"seed", run.seed},
                     {"launches", run.launches}, {"seconds", run.seconds},   {"reports", std::move(reports)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

RunReport run_report_from_json(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    RunReport run{.program = json.at("program"),
                  .schedule = json.at("schedule"),
                  .seed = json.at("seed"),
                  .launches = json.at("launches"),
                  .seconds = json.at("seconds"),
                  .reports = {}};
    for (const Json& report : json.at("reports")) run.reports.push_back(report_of(report));
    return run;
  } catch (const Json::exception& error) {
    throw FormatError(fmt::format("a checked program's report: {}", error.what()));
  }
}

}  // namespace treadle::simt
