#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "cli/train_callbacks.h"
#include "treadle/data/augmented_batches.h"
#include "treadle/plots/dataset_images.h"
#include "treadle/plots/image_grid.h"

namespace treadle::cli {
namespace {

constexpr int64_t kExamples = 8, kEpochs = 7;

/// The values, pixel/255, of an example as bytes.
void add_bytes(const float* values, int64_t count, std::vector<uint8_t>& pixels) {
  for (int64_t i = 0; i < count; ++i)
    pixels.push_back(uint8_t(std::lround(std::clamp(255 * values[i], 0.0f, 255.0f))));
}

/// A row for each of the first examples: as it is, then as the first epochs of the run see it.
Image draw_examples(const ImageDataset& data, const Augmentations& augmentations, uint64_t seed) {
  std::vector<int64_t> indices(size_t(std::min(kExamples, data.size())));
  std::iota(indices.begin(), indices.end(), 0);
  const AugmentedBatches batches(data, augmentations, {}, seed);
  const int64_t size = data.image_shape.numel(), count = int64_t(indices.size());
  std::vector<Tensor> epochs;
  for (int64_t epoch = 0; epoch < kEpochs; ++epoch) epochs.push_back(batches.batch(epoch, indices).examples);
  ImageDataset shown{data.name, data.classes, data.image_shape, {}, {}};
  for (int64_t i = 0; i < count; ++i) {
    const auto pixels = data.pixels.begin() + i * size;
    shown.pixels.insert(shown.pixels.end(), pixels, pixels + size);
    for (const Tensor& epoch : epochs) add_bytes(epoch.data<float>() + i * size, size, shown.pixels);
  }
  shown.labels.resize(size_t(count * (kEpochs + 1)));
  std::vector<int64_t> all(shown.labels.size());
  std::iota(all.begin(), all.end(), 0);
  const int scale = int(std::max<int64_t>(56 / data.image_shape[1], 1));
  return image_grid(images_of(shown, all), {.columns = int(kEpochs) + 1, .scale = scale});
}

/// Draws what augmentations made of the training images, once a run is done.
class AugmentedExamples final : public Callback {
 public:
  explicit AugmentedExamples(const TrainContext& run) : run_(run) {}

  void end_fit(const FitResult& result) override {
    if (result.interrupted) return;
    const std::filesystem::path folder = run_.folder.path() / "plots";
    std::filesystem::create_directories(folder);
    save_png(
        folder / "augmented.png",
        draw_examples(run_.images->train, Augmentations::parse(run_.options.augment), run_.options.seed));
  }

 private:
  TrainContext run_;
};

}  // namespace

void register_callbacks_augmented_examples(TrainCallbacks& callbacks) {
  callbacks.add([](const TrainContext& run) -> std::unique_ptr<Callback> {
    const bool draws =
        !run.options.no_plots && !run.options.augment.empty() && run.images && can_be_seen(run.images->train);
    return draws ? std::make_unique<AugmentedExamples>(run) : nullptr;
  });
}

}  // namespace treadle::cli
