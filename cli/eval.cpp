#include <fmt/core.h>

#include "cli/command.h"
#include "cli/learning_tasks.h"
#include "cli/settings_options.h"
#include "cli/standard_output.h"
#include "treadle/core/nearest_name.h"
#include "treadle/data/dataset.h"

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
    field("batch_size", &O::batch_size, "Images, or windows of a text, at a time",
          {.check = whole_number(1)});
    field("limit_batches", &O::limit_batches, "Only the first batches",
          {.check = whole_number(0), .default_shown = false});
    field("confusion", &O::confusion, "Print which classes the images of each class got, too");
    BindingSettings::describe(field);
    field("json", &O::json, "One JSON object on the last line");
  }
};

int run(const Options& options) {
  const Device device = apply_run_settings(options);
  LoadedModel model = load_model(options.checkpoint);
  require_finite(model);
  const std::string data = options.data.empty() ? model.checkpoint.dataset : options.data;
  const EvalAnswer answer = learning_task_of(model.checkpoint.model)
                                .evaluate(model, {options.checkpoint, data, device, options.batch_size,
                                                  options.limit_batches, options.confusion});
  if (options.json)
    print_json(answer.object);
  else
    fmt::print("{}", answer.text);
  return kSuccess;
}

}  // namespace

void register_eval(Commands& commands) {
  commands.add({.place = 2,
                .name = "eval",
                .description = "Test figures of a checkpoint, of a classifier also by class",
                .example = "treadle eval runs/fashion_cnn"},
               run);
}

}  // namespace treadle::cli
