#include <algorithm>

#include "cli/run_plots.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/plots/image_grid.h"
#include "treadle/plots/planes.h"

namespace treadle::cli {
namespace {

constexpr size_t kMostFilters = 128;

/// A scale at which the smallest filters can be seen.
int scale_for(const Image& image) { return std::max(1, 48 / std::max(image.width, image.height)); }

/// What the first parameter says as images: filters of a convolution that reads images of 1 or 3 channels, or
/// rows of a linear layer that reads whole images. Empty where it is neither.
std::vector<Image> filters_of(const PlottedRun& run) {
  const Shape& input = run.test.image_shape;
  const std::vector<Tensor> parameters = run.model.parameters();
  if (parameters.empty() || input.rank() != 3 || (input[0] != 1 && input[0] != 3)) return {};
  const Tensor weight = to(parameters[0].detach(), kCpu);
  const Shape& shape = weight.shape();
  const bool convolution = shape.rank() == 4 && shape[1] == input[0];
  const bool linear = shape.rank() == 2 && shape[1] == input.numel();
  if (!convolution && !linear) return {};
  const int64_t height = convolution ? shape[2] : input[1], width = convolution ? shape[3] : input[2];
  auto doubles = weight.to_doubles();
  std::vector<float> values(doubles.begin(), doubles.end());
  return images_of_planes(values, int(height), int(width), int(input[0]), true);
}

}  // namespace

void register_plots_filters(RunPlots& plots) {
  plots.add([](const PlottedRun& run, const std::filesystem::path& folder) {
    std::vector<Image> images = filters_of(run);
    if (images.empty()) return;
    images.resize(std::min(images.size(), kMostFilters));
    save_png(folder / "filters.png",
             image_grid(images, {.columns = 16, .scale = scale_for(images[0]), .gap = 6}));
  });
}

}  // namespace treadle::cli
