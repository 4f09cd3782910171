#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cli/command.h"
#include "cli/format.h"
#include "cli/learning_tasks.h"
#include "cli/settings_options.h"
#include "cli/standard_output.h"
#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/formats/image.h"
#include "treadle/graph/autograd.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/softmax/softmax.h"
#include "treadle/train/load_model.h"

namespace treadle::cli {
namespace {

struct Options : BindingSettings {
  std::string checkpoint;
  std::vector<std::string> images;
  int64_t top_k = 3;
  bool invert = false, json = false;

  static void describe(auto& field) {
    using O = Options;
    field("checkpoint", &O::checkpoint, "A checkpoint file, or a run folder",
          {.on_command_line = "CHECKPOINT", .required = true});
    field("images", &O::images, "PNG or JPEG files", {.on_command_line = "IMAGE", .required = true});
    field("top_k", &O::top_k, "How many classes to print", {.check = whole_number(1)});
    field("invert", &O::invert, "Dark on light becomes light on dark, as the training images are");
    BindingSettings::describe(field);
    field("json", &O::json, "One JSON object on the last line");
  }
};

/// Throws unless the model takes images: grey or colour.
void require_images(const LoadedModel& model) {
  require_task_of_images(model.checkpoint.model, "predict");
  const Shape& input = model.checkpoint.input;
  require<ValueError>(input.rank() == 3 && (input[0] == 1 || input[0] == 3),
                      "{} takes examples of shape {}, no images; evaluate it with a data set: treadle eval",
                      model.file.string(), input);
}

/// Pixel/255, optionally inverted, normalised, as [1,C,H,W].
Tensor to_input(const Image& image, const Checkpoint& checkpoint, bool invert) {
  const Shape& shape = checkpoint.input;
  const std::vector<uint8_t> fitted =
      planes_of(resize_bilinear(with_channels(image, int(shape[0])), int(shape[2]), int(shape[1])));
  std::vector<float> values(fitted.size());
  int64_t plane = shape[1] * shape[2];
  const auto& [mean, deviation] = checkpoint.normalization;
  for (int64_t c = 0; c < shape[0]; ++c)
    for (int64_t i = 0; i < plane; ++i) {
      float value = float(fitted[size_t(c * plane + i)]) / 255.0f;
      if (invert) value = 1 - value;
      values[size_t(c * plane + i)] = mean.empty() ? value : (value - mean[size_t(c)]) / deviation[size_t(c)];
    }
  return Tensor::from(values, {1, shape[0], shape[1], shape[2]});
}

struct Prediction {
  std::string label;
  float probability;
};

template <class Classifier>
std::vector<Prediction> classify(const Options& options, LoadedModel& model, Classifier& classifier,
                                 Device device, const std::string& path) {
  NoGrad no_grad;
  Tensor input = to_input(load_image(path), model.checkpoint, options.invert);
  auto probabilities = classifier(to(input, device)).template to_vector<float>();
  for (float value : probabilities)
    require<FormatError>(std::isfinite(value), "{}: a probability for {} is {}; the weights are too large",
                         model.file.string(), path, value);
  std::vector<size_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return probabilities[a] > probabilities[b]; });
  std::vector<Prediction> best;
  for (size_t i : order)
    if (int64_t(best.size()) < options.top_k) best.push_back({model.checkpoint.classes[i], probabilities[i]});
  return best;
}

std::string line_of(const std::vector<Prediction>& best) {
  std::string line;
  for (auto& [label, probability] : best)
    line += fmt::format("{}{} {}", line.empty() ? "" : ", ", label, percent(probability));
  return line;
}

Json json_of(const std::vector<Prediction>& best) {
  std::vector<Json> entries;
  for (auto& [label, probability] : best) entries.push_back({{"class", label}, {"probability", probability}});
  return entries;
}

/// The entry of one image in --json; that of one which cannot be read tells why, on stderr too.
struct Entry {
  Json json;
  bool failed = false;
};

template <class Classifier>
Entry predict(const Options& options, LoadedModel& model, Classifier& classifier, Device device,
              const std::string& path) {
  try {
    auto best = classify(options, model, classifier, device, path);
    if (!options.json) fmt::print("{}: {}\n", path, line_of(best));
    return {Json{{"image", path}, {"predictions", json_of(best)}}};
  } catch (const Error& error) {
    std::fflush(stdout);  // in the order of the images
    print_error(fmt::format("treadle: {}", error.what()));
    return {Json{{"image", path}, {"error", error.what()}}, true};
  }
}

int run(const Options& options) {
  Device device = apply_run_settings(options);
  LoadedModel model = load_model(options.checkpoint);
  require_images(model);
  require_finite(model);
  model.module->to(device);
  const Shape& input = model.checkpoint.input;
  if (!options.json)
    fmt::print(
        "images are turned upright (EXIF), laid over white, {}, resized (bilinear) to {}×{}{}; "
        "all as Pillow does\n",
        input[0] == 1 ? "made grey" : "read as RGB", input[2], input[1], options.invert ? ", inverted" : "");
  auto classifier = compile([&](Tensor x) { return softmax((*model.module)(x), 1); });
  std::vector<Json> results;
  bool failed = false;
  for (const std::string& path : options.images) {
    const Entry entry = predict(options, model, classifier, device, path);
    results.push_back(entry.json);
    failed |= entry.failed;
  }
  if (options.json) print_json(Json{{"results", results}});
  return failed ? kFailed : kSuccess;
}

}  // namespace

void register_predict(Commands& commands) {
  commands.add({.place = 3,
                .name = "predict",
                .description = "Classify image files with a checkpoint",
                .example = "treadle predict runs/fashion_cnn boot.png --invert"},
               run);
}

}  // namespace treadle::cli
