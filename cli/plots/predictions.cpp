#include <algorithm>
#include <numeric>

#include "cli/run_plots.h"
#include "treadle/formats/file.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/plots/dataset_images.h"
#include "treadle/plots/svg.h"

namespace treadle::cli {
namespace {

constexpr int kColumns = 8, kTile = 84, kGap = 10, kCaption = 30;

std::vector<int64_t> first_indices(const ImageDataset& data, int64_t count) {
  std::vector<int64_t> indices(std::min(data.size(), count));
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

/// The first test images with the class that the model gives them; where it is wrong, in red with the label.
std::string draw_predictions(const PlottedRun& run) {
  const std::vector<int64_t> indices = first_indices(run.test, 4 * kColumns);
  const Batch batch = make_batch(run.test, indices, run.normalization, run.device);
  const auto answers = argmax(run.model(batch.images), 1).to_vector<int64_t>();
  const std::vector<Image> images = images_of(run.test, indices);
  const int rows = int(indices.size() - 1) / kColumns + 1;
  Svg svg(kColumns * (kTile + kGap) + kGap, rows * (kTile + kCaption + kGap) + kGap);
  for (int i = 0; i < int(indices.size()); ++i) {
    const double x = kGap + i % kColumns * (kTile + kGap),
                 y = kGap + i / kColumns * (kTile + kCaption + kGap);
    const int64_t label = run.test.labels[i];
    const bool right = answers[i] == label;
    svg.image(x, y, kTile, kTile, images[i]);
    const TextStyle style{.size = 11, .colour = right ? "#333333" : "#c22f00"};
    svg.text(x, y + kTile + 13, run.test.classes[answers[i]], style);
    if (!right) svg.text(x, y + kTile + 26, "not " + run.test.classes[label], style);
  }
  return svg.finished();
}

}  // namespace

void register_plots_predictions(RunPlots& plots) {
  plots.add([](const PlottedRun& run, const std::filesystem::path& folder) {
    if (can_be_seen(run.test) && run.test.size() > 0)
      replace_text(folder / "predictions.svg", draw_predictions(run));
  });
}

}  // namespace treadle::cli
