#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/standard_output.h"
#include "treadle/core/parallel_for.h"
#include "treadle/core/runtime.h"
#include "treadle/core/version.h"
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

std::vector<Entry> entries() {
  std::vector<Entry> list{device_entry(kCpu), device_entry(kSimt)};
  int cards = device_count(DeviceKind::cuda);
  for (int i = 0; i < std::max(cards, 1); ++i) list.push_back(device_entry({DeviceKind::cuda, i}));
  list.push_back({"engine", "own", "", "Treadle's kernels"});
  for (Engine engine : {Engine::onednn, Engine::cublas, Engine::cudnn})
    list.push_back({"engine", std::string(name_of(engine)), absence_of(engine),
                    engine == Engine::onednn ? "cpu" : "cuda"});
  return list;
}

int run(bool as_json) {
  auto list = entries();
  std::string chosen = to_string(device_named("auto"));
  if (as_json) {
    nlohmann::json devices = nlohmann::json::array(), engines = nlohmann::json::array();
    for (auto& e : list)
      (e.kind == "device" ? devices : engines)
          .push_back({{"name", e.name},
                      {"available", e.reason.empty()},
                      {"reason", e.reason},
                      {"description", e.detail}});
    nlohmann::json object = {
        {"version", version()}, {"threads", num_threads()}, {"threads_decided_by", default_threads().reason},
        {"auto", chosen},       {"devices", devices},       {"engines", engines}};
    print_json(object);
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

Action add_info(CLI::App& app) {
  auto as_json = std::make_shared<bool>(false);
  app.add_flag("--json", *as_json, "One JSON object");
  app.footer("Example: treadle info");
  return [as_json] { return run(*as_json); };
}

}  // namespace treadle::cli
