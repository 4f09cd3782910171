#include "treadle/train/callbacks/tensorboard_log.h"

#include <numeric>

#include "cli/train_callbacks.h"
#include "treadle/plots/dataset_images.h"
#include "treadle/plots/image_grid.h"

namespace treadle::cli {
namespace {

HyperParameter value_of(const ProgramOption& option) {
  return std::visit(
      [&](const auto* value) -> HyperParameter {
        using Value = std::decay_t<decltype(*value)>;
        if constexpr (std::is_same_v<Value, bool>)
          return *value;
        else if constexpr (std::is_arithmetic_v<Value>)
          return double(*value);
        else
          return option.text();
      },
      option.target);
}

std::map<std::string, HyperParameter> hyper_parameters_of(TrainOptions options) {
  std::map<std::string, HyperParameter> values{{"model", options.model}};
  for (const ProgramOption& option : described(options))
    if (option.traits.kept != Kept::no) values[option.name] = value_of(option);
  return values;
}

/// The first training images.
std::map<std::string, Image> images_to_show(const DatasetSplits* images) {
  if (!images || !can_be_seen(images->train)) return {};
  const ImageDataset& data = images->train;
  std::vector<int64_t> first(std::min<int64_t>(data.size(), 32));
  std::iota(first.begin(), first.end(), 0);
  return {{"train/images", image_grid(images_of(data, first))}};
}

}  // namespace

void register_callbacks_tensorboard_log(TrainCallbacks& callbacks) {
  callbacks.add([](const TrainContext& run) -> std::unique_ptr<Callback> {
    if (!run.options.tensorboard) return nullptr;
    return std::make_unique<TensorboardLog>(
        TensorboardOptions{run.folder.path(), hyper_parameters_of(run.options), images_to_show(run.images)});
  });
}

}  // namespace treadle::cli
