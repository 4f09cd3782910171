#include "cli/train_options.h"

#include <algorithm>
#include <cmath>

#include "treadle/core/error.h"
#include "treadle/data/augmentations.h"

namespace treadle::cli {
namespace {

/// Of every model: the defaults.
const Preset kBaseline = {"baseline", {}};

const Preset& find_preset(const std::string& name, const ModelInfo& model) {
  std::vector<std::string> known = {kBaseline.name};
  if (name == kBaseline.name) return kBaseline;
  for (const Preset& preset : model.presets) {
    if (preset.name == name) return preset;
    known.push_back(preset.name);
  }
  throw ValueError(unknown_name(model.name + " has no preset called", name, known));
}

/// The name of a preset, and the models that have it with their data sets.
struct PresetUse {
  std::string name, models;
};

std::vector<PresetUse> preset_uses() {
  std::vector<PresetUse> uses;
  for (const ModelInfo& model : known_models())
    for (const Preset& preset : model.presets) {
      auto use = std::find_if(uses.begin(), uses.end(),
                              [&](const PresetUse& other) { return other.name == preset.name; });
      if (use == uses.end()) use = uses.insert(uses.end(), {preset.name, ""});
      auto data = preset.options.find("data");
      use->models += (use->models.empty() ? "" : ", ") + model.name;
      if (data != preset.options.end()) use->models += " on " + data->second;
    }
  return uses;
}

}  // namespace

std::string augmentation_summaries() {
  std::string text = "Random changes of the training images, in this order, as in crop:4,flip. ";
  for (const AugmentationKind& kind : known_augmentation_kinds()) {
    text += kind.name;
    for (const OptionField& option : kind.options->fields)
      text += fmt::format(":{}={}", option.name, to_string(option.default_value));
    text += fmt::format(" ({}); ", kind.summary);
  }
  return text + "values may stand without the options' names, and be left out";
}

OptionCheck augmentation_list() {
  return {[](std::string& text) {
    try {
      Augmentations::parse(text);
      return std::string();
    } catch (const ValueError& error) {
      return std::string(error.what());
    }
  }};
}

std::optional<int> loader_threads_in(const std::string& text) {
  if (text == "auto") return std::nullopt;
  return int(number_in(text));
}

std::string preset_names() {
  std::string text = kBaseline.name;
  for (const PresetUse& use : preset_uses()) text += fmt::format("; {} ({})", use.name, use.models);
  return text;
}

void apply_preset(const IsGiven& is_given, TrainOptions& options) {
  if (options.preset.empty()) return;
  const Preset& preset = find_preset(options.preset, model_info(options.model));
  auto described_options = described(options);
  for (const auto& [name, value] : preset.options) {
    auto option = std::find_if(described_options.begin(), described_options.end(),
                               [&name = name](const ProgramOption& other) { return other.name == name; });
    require<Error>(option != described_options.end(), "the preset {} of {} sets {}, which is no option",
                   preset.name, options.model, name);
    if (!is_given(option->on_command_line())) option->set(value);
  }
}

std::map<std::string, std::string> model_options_of(const TrainOptions& o) {
  std::map<std::string, std::string> options;
  for (const std::string& word : o.model_option) {
    const size_t sign = word.find('=');
    require<ValueError>(sign != word.npos, "--model-option '{}' is not NAME=VALUE", word);
    const bool added = options.emplace(word.substr(0, sign), word.substr(sign + 1)).second;
    require<ValueError>(added, "--model-option {} is given twice", word.substr(0, sign));
  }
  return options;
}

std::unique_ptr<Optimizer> optimizer_of(const TrainOptions& o, std::vector<NamedTensor> parameters) {
  OptimizerSettings settings{.decay_vectors = !o.decay_matrices_only};
  if (!o.weight_decay.empty()) settings.options["weight_decay"] = number_in(o.weight_decay);
  return make_optimizer(o.optimizer, std::move(parameters), o.learning_rate, settings);
}

Schedule schedule_of(const TrainOptions& o, int64_t total_steps, int64_t steps_per_epoch) {
  return schedule_with(o.schedule, o.learning_rate, {total_steps, steps_per_epoch, o.warm_up_steps},
                       o.of_schedule);
}

void check(const TrainOptions& o) {
  model_info(o.model);
  require<ValueError>(std::isfinite(o.learning_rate), "--lr {} is not a learning rate", o.learning_rate);
  require<ValueError>(o.validation >= 0 && o.validation < 1, "--validation {} is not within [0, 1)",
                      o.validation);
  require<ValueError>(o.early_stop == 0 || o.validation > 0,
                      "--early-stop needs --validation: the test part chooses nothing");
  require<ValueError>(!o.overwrite || !o.out.empty(),
                      "--overwrite needs --out: without it a new run gets a folder of its own");
  model_options_of(o);
  optimizer_of(o, {});
  require<ValueError>(!schedule_of(o, 1, 1).follows_figure() || o.validation > 0,
                      "--schedule {} needs --validation: it follows a figure of that part", o.schedule);
}

}  // namespace treadle::cli
