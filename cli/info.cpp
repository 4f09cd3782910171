#include <fmt/core.h>

#include "cli/command.h"
#include "cli/standard_output.h"
#include "treadle/core/parallel_for.h"
#include "treadle/core/plugin.h"
#include "treadle/core/runtime.h"
#include "treadle/core/version.h"
#include "treadle/data/download.h"
#include "treadle/graph/registry.h"

namespace treadle::cli {
namespace {

struct Entry {
  std::string kind, name, reason, detail;
};

Entry device_entry(Device device) {
  Entry entry{"device", to_string(device), absence_of(device), ""};
  if (entry.reason.empty()) entry.detail = runtime(device).description();
  return entry;
}

Entry engine_entry(Engine engine) {
  return {"engine", std::string(name_of(engine)), absence_of(engine),
          engine == Engine::own ? "Treadle's kernels" : std::string(name_of(device_of(engine)))};
}

std::vector<Entry> entries() {
  std::vector<Entry> list;
  for (const DeviceName& device : kDeviceNames)
    for (int i = 0; i < std::max(device_count(device.kind), 1); ++i)
      list.push_back(device_entry({device.kind, i}));
  for (Engine engine : kAllEngines) list.push_back(engine_entry(engine));
  list.push_back({"data", "download", downloads_absence(), "by libcurl"});
  for (const Plugin& plugin : known_plugins())  // known by now: what needs them was asked for
    list.push_back({"plugin", plugin.name, plugin.absence, plugin.file});
  return list;
}

/// Those of one kind.
Json to_json(const std::vector<Entry>& list, std::string_view kind) {
  std::vector<Json> entries;
  for (const Entry& e : list)
    if (e.kind == kind)
      entries.push_back({{"name", e.name},
                         {"available", e.reason.empty()},
                         {"reason", e.reason},
                         {"description", e.detail}});
  return entries;
}

struct Options {
  bool json = false;

  static void describe(auto& field) { field("json", &Options::json, "One JSON object"); }
};

int run(const Options& options) {
  auto list = entries();
  std::string chosen = to_string(device_named("auto"));
  if (options.json) {
    print_json(Json{{"version", version()},
                    {"threads", num_threads()},
                    {"threads_decided_by", default_threads().reason},
                    {"auto", chosen},
                    {"devices", to_json(list, "device")},
                    {"engines", to_json(list, "engine")},
                    {"data", to_json(list, "data")},
                    {"plugins", to_json(list, "plugin")}});
    return kSuccess;
  }
  fmt::print("treadle {}, {} threads ({})\n", version(), num_threads(), default_threads().reason);
  for (auto& e : list)
    fmt::print("{:<7} {:<7} {:<3}  {}\n", e.kind, e.name, e.reason.empty() ? "yes" : "no",
               e.reason.empty() ? e.detail : e.reason);
  fmt::print("--device auto means {}\n", chosen);
  return kSuccess;
}

}  // namespace

void register_info(Commands& commands) {
  commands.add({.place = 5,
                .name = "info",
                .description = "Devices and engines: which are there, and why others are not",
                .example = "treadle info"},
               run);
}

}  // namespace treadle::cli
