#include "treadle/plots/image_grid.h"

#include <algorithm>

#include "treadle/core/error.h"

namespace treadle {
namespace {

void check(std::span<const Image> images, const GridOptions& o) {
  require<ValueError>(!images.empty(), "image_grid: there are no images");
  require<ValueError>(o.columns > 0 && o.scale > 0 && o.gap >= 0,
                      "image_grid: columns {}, scale {} and gap {} must be positive", o.columns, o.scale,
                      o.gap);
  for (const Image& image : images)
    require<ValueError>(image.width == images[0].width && image.height == images[0].height,
                        "image_grid: an image of {}×{} beside one of {}×{}", image.width, image.height,
                        images[0].width, images[0].height);
}

/// Draws at a place of the grid, each pixel as a square.
void draw(const Image& image, int left, int top, int scale, Image& grid) {
  for (int y = 0; y < image.height * scale; ++y)
    for (int x = 0; x < image.width * scale; ++x) {
      const size_t from = (size_t(y / scale) * image.width + x / scale) * image.channels;
      const size_t to = (size_t(top + y) * grid.width + left + x) * grid.channels;
      for (int c = 0; c < grid.channels; ++c)
        grid.pixels[to + c] = image.pixels[from + (image.channels == 1 ? 0 : c)];
    }
}

}  // namespace

Image image_grid(std::span<const Image> images, const GridOptions& o) {
  check(images, o);
  const int count = int(images.size()), columns = std::min(o.columns, count);
  const int rows = (count - 1) / columns + 1;
  const int width = images[0].width * o.scale + o.gap, height = images[0].height * o.scale + o.gap;
  int channels = 1;
  for (const Image& image : images) channels = std::max(channels, image.channels);
  Image grid{columns * width - o.gap, rows * height - o.gap, channels, {}};
  grid.pixels.assign(size_t(grid.width) * grid.height * channels, 255);
  for (int i = 0; i < count; ++i) draw(images[i], i % columns * width, i / columns * height, o.scale, grid);
  return grid;
}

}  // namespace treadle
