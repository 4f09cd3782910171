#include "treadle/simt/profile/report.h"

#include <nlohmann/json.hpp>

#include "treadle/core/error.h"

namespace treadle::simt {
namespace {

using Json = nlohmann::json;

// Each structure is an array of its members in order: there may be many of them.

Json json_of(const Place& place) { return {place.address, place.file, place.line}; }
Json json_of(const AccessSite& site) {
  const AccessCounters& c = site.counters;
  return {json_of(site.place), int(c.kind),   int(c.space), c.requests,         c.lanes, c.bytes, c.sectors,
          c.ideal_sectors,     c.new_sectors, c.wavefronts, c.ideal_wavefronts, c.rounds};
}
Json json_of(const BlockSite& site) { return {site.address, site.runs, site.lanes}; }
Json json_of(const MeetingSite& site) {
  return {json_of(site.place), int(site.kind), site.function, site.warps};
}

template <class Site>
Json json_of(const std::vector<Site>& sites) {
  Json list = Json::array();
  for (const Site& site : sites) list.push_back(json_of(site));
  return list;
}

Json json_of(const KernelCounters& kernel) {
  return {{"name", kernel.name},
          {"block", kernel.block},
          {"grid", kernel.grid},
          {"dynamic_shared_bytes", kernel.dynamic_shared_bytes},
          {"static_shared_bytes", kernel.static_shared_bytes},
          {"launches", kernel.launches},
          {"blocks", kernel.blocks},
          {"warps", kernel.warps},
          {"read_sectors", kernel.read_sectors},
          {"written_sectors", kernel.written_sectors},
          {"accesses", json_of(kernel.accesses)},
          {"code", json_of(kernel.code)},
          {"meetings", json_of(kernel.meetings)}};
}

Place place_of(const Json& json) { return {json.at(0), json.at(1), json.at(2), ""}; }
void read(const Json& json, AccessSite& site) {
  AccessCounters& c = site.counters;
  site.place = place_of(json.at(0));
  c.kind = static_cast<AccessKind>(json.at(1).get<int>());
  c.space = static_cast<MemorySpace>(json.at(2).get<int>());
  size_t i = 3;
  for (uint64_t* member : {&c.requests, &c.lanes, &c.bytes, &c.sectors, &c.ideal_sectors, &c.new_sectors,
                           &c.wavefronts, &c.ideal_wavefronts, &c.rounds})
    *member = json.at(i++);
}
void read(const Json& json, BlockSite& site) { site = {json.at(0), json.at(1), json.at(2)}; }
void read(const Json& json, MeetingSite& site) {
  site = {place_of(json.at(0)), static_cast<MeetingKind>(json.at(1).get<int>()), json.at(2), json.at(3)};
}

template <class Site>
void read(const Json& json, std::vector<Site>& sites) {
  for (const Json& one : json) read(one, sites.emplace_back());
}

KernelCounters kernel_of(const Json& json) {
  KernelCounters kernel{.name = json.at("name"),
                        .block = json.at("block"),
                        .grid = json.at("grid"),
                        .dynamic_shared_bytes = json.at("dynamic_shared_bytes"),
                        .static_shared_bytes = json.at("static_shared_bytes"),
                        .launches = json.at("launches"),
                        .blocks = json.at("blocks"),
                        .warps = json.at("warps"),
                        .read_sectors = json.at("read_sectors"),
                        .written_sectors = json.at("written_sectors"),
                        .accesses = {},
                        .code = {},
                        .meetings = {}};
  read(json.at("accesses"), kernel.accesses);
  read(json.at("code"), kernel.code);
  read(json.at("meetings"), kernel.meetings);
  return kernel;
}

}  // namespace

void AccessCounters::add(const AccessCounters& other) {
  requests += other.requests;
  lanes += other.lanes;
  bytes += other.bytes;
  sectors += other.sectors;
  ideal_sectors += other.ideal_sectors;
  new_sectors += other.new_sectors;
  wavefronts += other.wavefronts;
  ideal_wavefronts += other.ideal_wavefronts;
  rounds += other.rounds;
}

std::string to_json(const ProfileReport& report) {
  Json kernels = Json::array();
  for (const KernelCounters& kernel : report.kernels) kernels.push_back(json_of(kernel));
  const Json json = {
      {"launches", report.launches}, {"seconds", report.seconds}, {"kernels", std::move(kernels)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

ProfileReport profile_from_json(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    ProfileReport report{.launches = json.at("launches"), .seconds = json.at("seconds"), .kernels = {}};
    for (const Json& kernel : json.at("kernels")) report.kernels.push_back(kernel_of(kernel));
    return report;
  } catch (const Json::exception& error) {
    throw FormatError(fmt::format("a profiled program's report: {}", error.what()));
  }
}

}  // namespace treadle::simt
