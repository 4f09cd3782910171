#include "cli/model_source.h"

#include <cmath>
#include <filesystem>

#include "treadle/core/error.h"
#include "treadle/models/model.h"
#include "treadle/train/run_folder.h"

namespace treadle::cli {

namespace {

/// What a file says of classes, input and normalization must fit its model: later code indexes by it.
void check_against_model(const Checkpoint& c) {
  const ModelInfo& info = model_info(c.model);
  require<FormatError>(c.input == info.input, "its input is {}, that of {} is {}", c.input, c.model,
                       info.input);
  require<FormatError>(int64_t(c.classes.size()) == info.classes, "it names {} classes, {} has {}",
                       c.classes.size(), c.model, info.classes);
  const auto& [mean, deviation] = c.normalization;
  bool fits = mean.size() == deviation.size() && (mean.empty() || mean.size() == size_t(info.input[0]));
  require<FormatError>(fits, "it has {} means and {} deviations for {} channels", mean.size(),
                       deviation.size(), info.input[0]);
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
    loaded.module = make_model(loaded.checkpoint.model);
    loaded.module->load_state_dict(loaded.checkpoint.parameters);
  } catch (const Error& error) {
    throw FormatError(fmt::format("{}: {}", file.string(), error.what()));
  }
  loaded.module->eval();
  return loaded;
}

void require_finite(const LoadedModel& model) {
  std::string wrong = find_non_finite(model.checkpoint.parameters);
  require<FormatError>(wrong.empty(), "{}: {}; such weights compute nothing, train the model anew",
                       model.file.string(), wrong);
}

}  // namespace treadle::cli
