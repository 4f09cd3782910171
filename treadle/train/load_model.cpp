#include "treadle/train/load_model.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "treadle/core/error.h"
#include "treadle/train/run_folder.h"

namespace treadle {

namespace {

/// Elements of an input that is believed without a parameter of that size: a model is made for it before its
/// parameters are compared.
constexpr int64_t kMostInput = int64_t(1) << 22;

/// What a file says of classes, input and normalization must fit its model: later code indexes by it.
void check_against_model(const Checkpoint& c) {
  const ModelInfo& info = model_info(c.model);
  require<FormatError>(info.follows_data || c.input == info.input, "its input is {}, that of {} is {}",
                       c.input, c.model, info.input);
  require<FormatError>(info.follows_data || int64_t(c.classes.size()) == info.classes,
                       "it names {} classes, {} has {}", c.classes.size(), c.model, info.classes);
  int64_t elements = kMostInput;
  for (const NamedTensor& parameter : c.parameters) elements = std::max(elements, parameter.tensor.numel());
  const bool whole = c.input.rank() > 0 && !c.classes.empty() && checked_numel(c.input) > 0;
  require<FormatError>(whole && c.input.numel() <= elements,
                       "its input is {} and it names {} classes; there must be some, and at most {} elements",
                       c.input, c.classes.size(), elements);
  const auto& [mean, deviation] = c.normalization;
  bool fits = mean.size() == deviation.size() && (mean.empty() || mean.size() == size_t(c.input[0]));
  require<FormatError>(fits, "it has {} means and {} deviations for {} channels", mean.size(),
                       deviation.size(), c.input[0]);
  for (float value : deviation)
    require<FormatError>(value > 0 && std::isfinite(value), "a deviation is {}, it must be positive", value);
  for (float value : mean) require<FormatError>(std::isfinite(value), "a mean is {}", value);
}

}  // namespace

LoadedModel load_model(const std::string& path) {
  std::filesystem::path file = path;
  if (std::filesystem::is_directory(file)) file = RunFolder::model_file(file);
  LoadedModel loaded{nullptr, load_checkpoint(file), file};
  try {
    check_against_model(loaded.checkpoint);
    loaded.module = make_model(loaded.checkpoint.model, task_of(loaded.checkpoint));
    loaded.module->load_state_dict(loaded.checkpoint.parameters);
  } catch (const Error& error) {
    throw FormatError(fmt::format("{}: {}", file.string(), error.what()));
  }
  loaded.module->eval();
  return loaded;
}

ModelTask task_of(const Checkpoint& checkpoint) {
  return {checkpoint.input, int64_t(checkpoint.classes.size()), checkpoint.model_options};
}

void require_finite(const LoadedModel& model) {
  std::string wrong = find_non_finite(model.checkpoint.parameters);
  require<FormatError>(wrong.empty(), "{}: {}; such weights compute nothing, train the model anew",
                       model.file.string(), wrong);
}

void require_fit(const ImageDataset& test, const std::string& data, const Checkpoint& checkpoint) {
  require<ShapeError>(test.image_shape == checkpoint.input,
                      "images of {} have shape {}, the model expects {}", data, to_string(test.image_shape),
                      to_string(checkpoint.input));
  require<FormatError>(test.classes.size() == checkpoint.classes.size(),
                       "{} has {} classes, the model was trained on {}", data, test.classes.size(),
                       checkpoint.classes.size());
}

}  // namespace treadle
