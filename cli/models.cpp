#include <fmt/core.h>

#include "cli/command.h"
#include "cli/format.h"
#include "cli/standard_output.h"
#include "treadle/graph/options.h"
#include "treadle/models/model.h"

namespace treadle::cli {
namespace {

struct Options {
  bool json = false;

  static void describe(auto& field) { field("json", &Options::json, "One JSON object"); }
};

std::vector<Json> recipes_of(const ModelInfo& info) {
  std::vector<Json> list;
  for (const Preset& preset : info.presets) {
    Json recipe{{"preset", preset.name}, {"options", preset.options}};
    if (preset.accuracy > 0) recipe.add("accuracy", preset.accuracy);
    list.push_back(recipe);
  }
  return list;
}

/// What `--preset` trains, and what it reaches.
std::string recipe_table() {
  std::vector<std::vector<std::string>> rows{{"recipe", "data", "test accuracy"}};
  for (const ModelInfo& info : known_models())
    for (const Preset& preset : info.presets) {
      const auto data = preset.options.find("data");
      rows.push_back({info.name + " --preset " + preset.name,
                      data == preset.options.end() ? "" : data->second,
                      preset.accuracy > 0 ? "at least " + percent(preset.accuracy) : ""});
    }
  return table(rows);
}

std::vector<Json> options_of(const ModelInfo& info) {
  std::vector<Json> list;
  if (!info.options) return list;
  for (const OptionField& field : info.options->fields)
    list.push_back({{"name", field.name},
                    {"default", to_string(field.default_value)},
                    {"description", field.documentation}});
  return list;
}

/// What `--model-option` sets.
std::string option_table() {
  std::vector<std::vector<std::string>> rows{{"option of a model", "default", ""}};
  for (const ModelInfo& info : known_models())
    for (const OptionField& field : info.options ? info.options->fields : std::vector<OptionField>())
      rows.push_back({info.name + " --model-option " + field.name + "=", to_string(field.default_value),
                      field.documentation});
  return rows.size() > 1 ? "\n" + table(rows, {1}) : "";
}

int run(const Options& options) {
  std::vector<std::vector<std::string>> rows{{"model", "input", "parameters", "layers"}};
  std::vector<Json> list;
  for (const ModelInfo& info : known_models()) {
    int64_t parameters = make_model(info.name)->parameter_count();
    rows.push_back({info.name, to_string(info.input), with_commas(parameters), info.description});
    list.push_back({{"model", info.name},
                    {"task", info.task},
                    {"options", options_of(info)},
                    {"input", std::vector<int64_t>(info.input.begin(), info.input.end())},
                    {"classes", info.classes},
                    {"parameters", parameters},
                    {"description", info.description},
                    {"recipes", recipes_of(info)}});
  }
  if (options.json)
    print_json(Json{{"models", list}});
  else
    fmt::print("{}\n{}{}", table(rows, {2}), recipe_table(), option_table());
  return kSuccess;
}

}  // namespace

void register_models(Commands& commands) {
  commands.add({.place = 8, .name = "models", .description = "Known models", .example = "treadle models"},
               run);
}

}  // namespace treadle::cli
