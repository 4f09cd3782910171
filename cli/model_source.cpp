#include "cli/model_source.h"

#include <filesystem>

#include "treadle/core/error.h"
#include "treadle/models/model.h"

namespace treadle::cli {

LoadedModel load_model(const std::string& path) {
  std::filesystem::path file = path;
  if (std::filesystem::is_directory(file)) file /= "best.safetensors";
  LoadedModel loaded{nullptr, load_checkpoint(file)};
  try {
    loaded.module = make_model(loaded.checkpoint.model);
    loaded.module->load_state_dict(loaded.checkpoint.parameters);
  } catch (const Error& error) {
    throw FormatError(fmt::format("{}: {}", file.string(), error.what()));
  }
  loaded.module->eval();
  return loaded;
}

}  // namespace treadle::cli
