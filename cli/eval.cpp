#include <fmt/core.h>

#include <cmath>
#include <numeric>

#include "cli/class_figures.h"
#include "cli/class_table.h"
#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/format.h"
#include "cli/model_source.h"
#include "cli/settings_options.h"
#include "cli/standard_output.h"
#include "treadle/core/error.h"
#include "treadle/core/nearest_name.h"
#include "treadle/train/classification/evaluate.h"

namespace treadle::cli {
namespace {

struct Options : BindingSettings {
  std::string checkpoint, data;
  int64_t batch_size = 256, limit_batches = 0;
  bool confusion = false, json = false;

  static void describe(auto& field) {
    using O = Options;
    field("checkpoint", &O::checkpoint,
          "A checkpoint file, or a run folder (its best.safetensors, else its last.safetensors)",
          {.on_command_line = "CHECKPOINT", .required = true});
    field("data", &O::data,
          joined_names(dataset_names()) + ", or a folder or file; default: what it was trained on");
    field("batch_size", &O::batch_size, "Images at a time", {.check = whole_number(1)});
    field("limit_batches", &O::limit_batches, "Only the first batches",
          {.check = whole_number(0), .default_shown = false});
    field("confusion", &O::confusion, "Print which classes the images of each class got, too");
    BindingSettings::describe(field);
    field("json", &O::json, "One JSON object on the last line");
  }
};

int run(const Options& options) {
  Device device = apply_run_settings(options);
  LoadedModel model = load_model(options.checkpoint);
  require_finite(model);
  std::string data = options.data.empty() ? model.checkpoint.dataset : options.data;
  ImageDataset test = load_dataset(data, dataset_options(model.checkpoint)).test;
  require_fit(test, data, model.checkpoint);
  model.module->to(device);
  auto result = evaluate(*model.module, test, model.checkpoint.normalization, device, options.batch_size,
                         options.limit_batches * options.batch_size);
  const int64_t images = std::accumulate(result.total.begin(), result.total.end(), int64_t(0));
  require<FormatError>(std::isfinite(result.loss), "{}: the loss on {} is {}; its weights are too large",
                       model.file.string(), data, result.loss);
  if (options.json) {
    Json object = {
        {"checkpoint", options.checkpoint},  {"model", model.checkpoint.model}, {"data", data},
        {"test_accuracy", result.accuracy},  {"test_loss", result.loss},        {"test_images", images},
        {"images_in_test_set", test.size()}, {"correct", result.correct},       {"total", result.total}};
    add_class_figures(object, result);
    print_json(object);
    return kSuccess;
  }
  fmt::print("{}", class_figures_table(test.classes, result));
  if (options.confusion) fmt::print("\n{}\n", confusion_table(test.classes, result));
  fmt::print("test accuracy {} ({:.4f}), test loss {:.4f}{}\n", percent(result.accuracy), result.accuracy,
             result.loss, share_of_test_set(images, test.size()));
  return kSuccess;
}

}  // namespace

void register_eval(Commands& commands) {
  commands.add({.place = 2,
                .name = "eval",
                .description = "Test accuracy of a checkpoint, in all and by class",
                .example = "treadle eval runs/fashion_cnn"},
               run);
}

}  // namespace treadle::cli
