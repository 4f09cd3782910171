#include "treadle/models/model.h"

#include <algorithm>

#include "treadle/core/error.h"
#include "treadle/core/insert_at_place.h"
#include "treadle/core/nearest_name.h"
#include "treadle/models/model_registry.h"

namespace treadle {

namespace models {

void register_all(ModelRegistry& registry);  // generated from the files of models/
}

void ModelRegistry::add(ModelInfo info) { insert_at_place(models_, std::move(info)); }

const std::vector<ModelInfo>& known_models() {
  static const ModelRegistry registry = [] {
    ModelRegistry all;
    models::register_all(all);
    return all;
  }();
  return registry.models();
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const ModelInfo& info : known_models()) names.push_back(info.name);
  return names;
}

const ModelInfo& model_info(const std::string& name) {
  for (const ModelInfo& info : known_models())
    if (info.name == name) return info;
  throw ValueError(unknown_name("no model is called", name, model_names()));
}

const ModelInfo& usual_model() {
  const auto& all = known_models();
  return *std::find_if(all.begin(), all.end(), [](const ModelInfo& info) { return info.usual; });
}

std::shared_ptr<Module> make_model(const std::string& name, uint64_t seed) {
  const ModelInfo& info = model_info(name);
  return make_model(name, {info.input, info.classes}, seed);
}

std::shared_ptr<Module> make_model(const std::string& name, const ModelTask& task, uint64_t seed) {
  const ModelInfo& info = model_info(name);
  require<ShapeError>(info.follows_data || task.input == info.input, "{} takes examples of shape {}, not {}",
                      name, info.input, task.input);
  require<ValueError>(info.follows_data || task.classes == info.classes, "{} has {} classes, not {}", name,
                      info.classes, task.classes);
  require<ValueError>(task.classes > 0, "{} cannot have {} classes", name, task.classes);
  require<ValueError>(info.options || task.options.empty(), "{} has no options, and '{}' was given", name,
                      task.options.empty() ? "" : task.options.begin()->first);
  Generator generator(seed);
  return info.make(task, generator);
}

}  // namespace treadle
