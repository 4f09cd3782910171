#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/format.h"
#include "cli/standard_output.h"
#include "treadle/models/model.h"

namespace treadle::cli {
namespace {

int print_models(bool as_json) {
  std::vector<std::vector<std::string>> rows{{"model", "input", "parameters", "layers"}};
  nlohmann::json list = nlohmann::json::array();
  for (const ModelInfo& info : known_models()) {
    int64_t parameters = make_model(info.name)->parameter_count();
    rows.push_back({info.name, to_string(info.input), with_commas(parameters), info.description});
    list.push_back({{"model", info.name},
                    {"input", std::vector<int64_t>(info.input.begin(), info.input.end())},
                    {"classes", info.classes},
                    {"parameters", parameters},
                    {"description", info.description}});
  }
  if (as_json)
    print_json(nlohmann::json{{"models", list}});
  else
    fmt::print("{}", table(rows, {2}));
  return kSuccess;
}

}  // namespace

Action add_models(CLI::App& app) {
  auto as_json = std::make_shared<bool>(false);
  app.add_flag("--json", *as_json, "One JSON object");
  app.footer("Example: treadle models");
  return [as_json] { return print_models(*as_json); };
}

}  // namespace treadle::cli
