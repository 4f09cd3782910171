/// A model out of a checkpoint.
#pragma once  // public

#include <filesystem>
#include <memory>
#include <string>

#include "treadle/data/dataset.h"
#include "treadle/models/model.h"
#include "treadle/nn/module.h"
#include "treadle/train/checkpoint.h"

namespace treadle {

struct LoadedModel {
  std::shared_ptr<Module> module;
  Checkpoint checkpoint;
  std::filesystem::path file;
};

/// Reads a checkpoint (a file, or a run folder: then RunFolder::model_file()) and builds its model. Throws
/// FormatError when the file does not hold that model.
TREADLE_API LoadedModel load_model(const std::string& path);

/// What a checkpoint's model was made for.
TREADLE_API ModelTask task_of(const Checkpoint& checkpoint);

/// Throws FormatError naming file and tensor when a weight is NaN or infinite: nothing can be computed with
/// it.
TREADLE_API void require_finite(const LoadedModel& model);

/// Throws ShapeError or FormatError unless the model takes the data set's examples and knows its classes.
TREADLE_API void require_fit(const ImageDataset& test, const std::string& data, const Checkpoint& checkpoint);

}  // namespace treadle
