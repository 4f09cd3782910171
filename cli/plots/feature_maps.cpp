#include <algorithm>
#include <optional>

#include "cli/run_plots.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/plots/image_grid.h"
#include "treadle/plots/planes.h"

namespace treadle::cli {
namespace {

constexpr size_t kMostMaps = 64;

/// What the first layer that gives planes makes of the first test image; nothing where no layer does.
std::optional<Tensor> first_planes(const PlottedRun& run) {
  const int64_t first[] = {0};
  const Batch batch = make_batch(run.test, first, run.normalization, run.device);
  std::optional<Tensor> planes;
  const ObserveModules observe(
      [&](const Module& module, std::span<const Tensor>, std::span<const Tensor> outputs) {
        if (!planes && module.children().empty() && !outputs.empty() && outputs[0].rank() == 4)
          planes = to(outputs[0].detach(), kCpu);
      });
  run.model(batch.images);
  return planes;
}

}  // namespace

void register_plots_feature_maps(RunPlots& plots) {
  plots.add([](const PlottedRun& run, const std::filesystem::path& folder) {
    if (run.test.size() == 0) return;
    const auto planes = first_planes(run);
    if (!planes) return;
    auto doubles = planes->to_doubles();
    const std::vector<float> values(doubles.begin(), doubles.end());
    auto images = images_of_planes(values, int(planes->shape()[2]), int(planes->shape()[3]), 1, false);
    images.resize(std::min(images.size(), kMostMaps));
    save_png(folder / "feature_maps.png", image_grid(images, {.columns = 8, .scale = 2}));
  });
}

}  // namespace treadle::cli
