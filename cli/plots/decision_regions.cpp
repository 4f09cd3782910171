#include <algorithm>
#include <array>
#include <vector>

#include "cli/run_plots.h"
#include "treadle/formats/file.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/plots/svg.h"

namespace treadle::cli {
namespace {

constexpr int kCells = 160, kSide = 560, kMargin = 20, kLegend = 34;
constexpr double kRoom = 0.08;  ///< around the points, as a share of their extent
constexpr size_t kMostPoints = 1000;

/// Colours that remain apart for most colour-blind people (Okabe and Ito, Color Universal Design, 2008).
constexpr std::array<std::array<uint8_t, 3>, 8> kColours = {{{0, 114, 178},
                                                             {213, 94, 0},
                                                             {0, 158, 115},
                                                             {204, 121, 167},
                                                             {230, 159, 0},
                                                             {86, 180, 233},
                                                             {120, 120, 120},
                                                             {240, 228, 66}}};

std::string colour_of(int64_t label) {
  const auto& c = kColours[size_t(label) % kColours.size()];
  return fmt::format("#{:02x}{:02x}{:02x}", c[0], c[1], c[2]);
}

/// Where the test points lie, with room around them.
struct Window {
  float low[2], high[2];

  explicit Window(const std::vector<float>& points) {
    for (int axis : {0, 1}) {
      low[axis] = high[axis] = points[size_t(axis)];
      for (size_t i = size_t(axis); i < points.size(); i += 2)
        low[axis] = std::min(low[axis], points[i]), high[axis] = std::max(high[axis], points[i]);
      const float room = std::max(float(kRoom) * (high[axis] - low[axis]), 1e-3f);
      low[axis] -= room, high[axis] += room;
    }
  }
  /// From the left and from the top, as shares of the window.
  double across(float x) const { return (x - low[0]) / (high[0] - low[0]); }
  double down(float y) const { return (high[1] - y) / (high[1] - low[1]); }
};

/// The class that the model gives the middle of each cell of the window, row by row from the top.
std::vector<int64_t> classes_of_cells(const PlottedRun& run, const Window& window) {
  ImageDataset cells = run.test;
  cells.values.clear();
  for (int row = 0; row < kCells; ++row)
    for (int column = 0; column < kCells; ++column) {
      const float right = (float(column) + 0.5f) / kCells, up = 1 - (float(row) + 0.5f) / kCells;
      cells.values.push_back(window.low[0] + right * (window.high[0] - window.low[0]));
      cells.values.push_back(window.low[1] + up * (window.high[1] - window.low[1]));
    }
  cells.labels.assign(size_t(kCells) * kCells, 0);
  std::vector<int64_t> all(cells.labels.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = int64_t(i);
  const Batch batch = make_batch(cells, all, run.normalization, run.device);
  return argmax(run.model(batch.images), 1).to_vector<int64_t>();
}

/// The regions, in pale colours.
Image image_of_regions(const std::vector<int64_t>& classes) {
  Image image{kCells, kCells, 3, {}};
  for (int64_t label : classes)
    for (uint8_t shade : kColours[size_t(label) % kColours.size()])
      image.pixels.push_back(uint8_t(255 - (255 - shade) * 3 / 10));
  return image;
}

std::string draw_regions(const PlottedRun& run) {
  const std::vector<float>& points = run.test.values;
  const Window window(points);
  Svg svg(kSide + 2 * kMargin, kSide + 2 * kMargin + kLegend);
  svg.image(kMargin, kMargin, kSide, kSide, image_of_regions(classes_of_cells(run, window)));
  const size_t count = std::min(run.test.labels.size(), kMostPoints);
  for (size_t i = 0; i < count; ++i)
    svg.circle(kMargin + kSide * window.across(points[2 * i]),
               kMargin + kSide * window.down(points[2 * i + 1]), 2.5, colour_of(run.test.labels[i]));
  double x = kMargin;
  for (size_t label = 0; label < run.test.classes.size(); ++label) {
    svg.circle(x + 5, kMargin + kSide + 22, 5, colour_of(int64_t(label)));
    svg.text(x + 15, kMargin + kSide + 26, run.test.classes[label]);
    x += 30 + 8 * double(run.test.classes[label].size());
  }
  return svg.finished();
}

}  // namespace

/// Points of the plane: which class the model gives to each place, and the test points.
void register_plots_decision_regions(RunPlots& plots) {
  plots.add([](const PlottedRun& run, const std::filesystem::path& folder) {
    if (run.test.has_values() && run.test.image_shape == Shape{2} && run.test.size() > 0)
      replace_text(folder / "regions.svg", draw_regions(run));
  });
}

}  // namespace treadle::cli
