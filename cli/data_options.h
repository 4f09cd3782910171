/// The options that say how a data set's files are read, where they leave that open.
#pragma once

#include <string>

#include "cli/option_checks.h"
#include "treadle/data/dataset.h"
#include "treadle/data/text.h"
#include "treadle/models/model.h"
#include "treadle/train/checkpoint.h"

namespace treadle::cli {

struct DataOptions {
  std::string image_size, colours, label_column;
  int64_t block = TextOptions{}.block;

  static void describe(auto& field) {
    using O = DataOptions;
    field("image_size", &O::image_size,
          "What images of a folder are scaled to: HxW, or one number for both; default: as the model takes "
          "them, "
          "or as the first image is",
          {.check = or_nothing(image_size_text()), .kept = Kept::fixed, .kept_later = true});
    field("colours", &O::colours, "How images of a folder are read; default: as for --image-size",
          {.check = or_nothing(one_of({"grey", "rgb"})),
           .default_shown = false,
           .kept = Kept::fixed,
           .kept_later = true});
    field("label_column", &O::label_column,
          "Name or number, from 1, of a table's column of labels; default: label, class, target or species, "
          "or the "
          "last",
          {.kept = Kept::fixed, .kept_later = true});
    field("block", &O::block, "Characters of a text that a model sees at a time",
          {.check = whole_number(1, 4096), .kept = Kept::fixed, .kept_later = true});
  }

  /// "28x32", or "28" for both.
  static OptionCheck image_size_text();
};

/// What load_dataset() is told of a run; a model that does not follow the data decides what is left open.
DatasetOptions dataset_options(const DataOptions& options, const ModelInfo& model, uint64_t seed);

/// The same for a checkpoint's model: examples as it was trained on.
DatasetOptions dataset_options(const Checkpoint& checkpoint);

}  // namespace treadle::cli
