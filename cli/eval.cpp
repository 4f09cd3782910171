#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/class_table.h"
#include "cli/command.h"
#include "cli/format.h"
#include "cli/model_source.h"
#include "cli/option_checks.h"
#include "cli/settings_options.h"
#include "cli/standard_output.h"
#include "treadle/core/error.h"
#include "treadle/train/evaluate.h"

namespace treadle::cli {
namespace {

struct Options {
  std::string checkpoint, data;
  int64_t batch = 256, limit_batches = 0;
  RunSettings settings;
  bool json = false;
};

int run(const Options& options) {
  Device device = apply_run_settings(options.settings);
  LoadedModel model = load_model(options.checkpoint);
  require_finite(model);
  std::string data = options.data.empty() ? model.checkpoint.dataset : options.data;
  ImageDataset test = load_dataset(data).test;
  require<ShapeError>(test.image_shape == model.checkpoint.input,
                      "images of {} have shape {}, the model expects {}", data, to_string(test.image_shape),
                      to_string(model.checkpoint.input));
  require<FormatError>(test.classes.size() == model.checkpoint.classes.size(),
                       "{} has {} classes, the model was trained on {}", data, test.classes.size(),
                       model.checkpoint.classes.size());
  model.module->to(device);
  auto result = evaluate(*model.module, test, model.checkpoint.normalization, device, options.batch,
                         options.limit_batches * options.batch);
  const int64_t images = std::accumulate(result.total.begin(), result.total.end(), int64_t(0));
  require<FormatError>(std::isfinite(result.loss), "{}: the loss on {} is {}; its weights are too large",
                       model.file.string(), data, result.loss);
  if (options.json) {
    nlohmann::json object = {
        {"checkpoint", options.checkpoint},  {"model", model.checkpoint.model}, {"data", data},
        {"test_accuracy", result.accuracy},  {"test_loss", result.loss},        {"test_images", images},
        {"images_in_test_set", test.size()}, {"correct", result.correct},       {"total", result.total}};
    print_json(object);
    return kSuccess;
  }
  fmt::print("{}", class_table(test.classes, result));
  fmt::print("test accuracy {} ({:.4f}), test loss {:.4f}{}\n", percent(result.accuracy), result.accuracy,
             result.loss, share_of_test_set(images, test.size()));
  return kSuccess;
}

}  // namespace

Action add_eval(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("CHECKPOINT", options->checkpoint,
                 "A checkpoint file, or a run folder (its best.safetensors, else its last.safetensors)")
      ->required();
  app.add_option("--data", options->data,
                 "fashion-mnist, mnist, cifar-10 or a folder; default: what it was trained on");
  app.add_option("--batch-size", options->batch, "Images at a time")
      ->transform(whole_number(1))
      ->capture_default_str();
  app.add_option("--limit-batches", options->limit_batches, "Only the first batches")
      ->transform(whole_number(0));
  add_run_settings(app, options->settings);
  add_binding(app, options->settings);
  app.add_flag("--json", options->json, "One JSON object on the last line");
  app.footer("Example: treadle eval runs/fashion_cnn");
  return [options] { return run(*options); };
}

}  // namespace treadle::cli
