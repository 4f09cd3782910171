#include <fmt/core.h>

#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/learning_tasks.h"
#include "cli/run_plots.h"
#include "cli/settings_options.h"
#include "treadle/core/error.h"
#include "treadle/train/load_model.h"
#include "treadle/train/run_folder.h"

namespace treadle::cli {
namespace {

namespace fs = std::filesystem;

struct Options : BindingSettings {
  std::string run, data, out;

  static void describe(auto& field) {
    using O = Options;
    field("run", &O::run, "A run folder", {.on_command_line = "RUN", .required = true});
    field("data", &O::data, "Data set or folder; default: what it was trained on");
    field("out", &O::out, "Folder for the pictures; default: RUN/plots");
    BindingSettings::describe(field);
  }
};

int run(const Options& options) {
  require<FileError>(RunFolder::holds_run(options.run), "{} holds no run to plot", options.run);
  const Device device = apply_run_settings(options);
  LoadedModel model = load_model(options.run);
  require_finite(model);
  const Checkpoint& c = model.checkpoint;
  const std::string data = options.data.empty() ? c.dataset : options.data;
  const bool of_images = learning_task_of(c.model).of_images;
  const ImageDataset test = of_images ? load_dataset(data, dataset_options(c)).test : ImageDataset();
  if (of_images) require_fit(test, data, c);
  model.module->to(device);
  const fs::path folder = options.out.empty() ? fs::path(options.run) / "plots" : fs::path(options.out);
  draw_plots({RunFolder::epochs_in(options.run), *model.module, device, c.normalization, test,
              of_images ? evaluate(*model.module, test, c.normalization, device) : Evaluation()},
             folder);
  fmt::print("pictures are in {}\n", folder.string());
  return kSuccess;
}

}  // namespace

void register_plot(Commands& commands) {
  commands.add({.place = 4,
                .name = "plot",
                .description =
                    "Curves of a run; of images also confusion matrix, predictions, filters and feature maps",
                .example = "treadle plot runs/fashion_cnn"},
               run);
}

}  // namespace treadle::cli
