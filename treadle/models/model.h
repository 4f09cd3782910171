/// The models that are known by name. Each is declared in its own file of models/, which the build finds.
#pragma once  // public

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "treadle/core/dtype.h"
#include "treadle/core/random.h"
#include "treadle/nn/module.h"

namespace treadle {

struct OptionsSchema;  // graph/options.h

/// Options of `treadle train` that go together, under a name.
struct Preset {
  std::string name;
  std::map<std::string, std::string> options;  ///< as config.toml calls them → value
  double accuracy = 0;  ///< on the test set, at least, in the mean of three seeds; 0: nothing is promised
};

/// What a model is made for.
struct ModelTask {
  Shape input;          ///< of one example: [C,H,W] of an image, pixel/255; [T] of the characters of a text
  int64_t classes = 0;  ///< of images; kinds of characters
  std::map<std::string, std::string> options = {};  ///< of the model itself, see ModelInfo::options
};

struct ModelInfo {
  int place = 0;  ///< in lists, smallest first
  std::string name, description;
  /// What it is made for where no data set says; the only task where the model does not follow the data.
  Shape input;
  int64_t classes = 10;
  bool follows_data = false;  ///< whether it can be made for any input and number of classes
  /// What it learns: to tell classes apart, or "language", which character of a text follows. The program has
  /// a file for each.
  std::string task = "classification";
  DType input_dtype = DType::f32;          ///< of examples; i64: numbers from 0 and below `classes`
  const OptionsSchema* options = nullptr;  ///< what ModelTask::options may hold; null: nothing
  std::function<std::shared_ptr<Module>(const ModelTask& task, Generator& generator)> make = {};
  std::vector<Preset> presets = {};  ///< recipes for this model alone
  bool usual = false;                ///< the one that benches take where none is named
};

TREADLE_API const std::vector<ModelInfo>& known_models();

/// Throws ValueError listing the known ones.
TREADLE_API const ModelInfo& model_info(const std::string& name);

TREADLE_API std::vector<std::string> model_names();

/// The first that is marked as usual.
TREADLE_API const ModelInfo& usual_model();

/// A fresh model on the cpu for its usual task, initialised from `seed`.
TREADLE_API std::shared_ptr<Module> make_model(const std::string& name, uint64_t seed = 0);

/// The same for the task. Throws ShapeError, or ValueError for a number of classes, unless that is the
/// model's own task or it follows the data; ValueError for options that it does not have.
TREADLE_API std::shared_ptr<Module> make_model(const std::string& name, const ModelTask& task,
                                               uint64_t seed = 0);

}  // namespace treadle
