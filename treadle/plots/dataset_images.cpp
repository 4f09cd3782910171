#include "treadle/plots/dataset_images.h"

namespace treadle {
namespace {

/// From planes to interleaved pixels.
Image image_at(const ImageDataset& dataset, int64_t index) {
  const int64_t channels = dataset.image_shape[0];
  Image image{int(dataset.image_shape[2]), int(dataset.image_shape[1]), int(channels), {}};
  const int64_t plane = int64_t(image.width) * image.height;
  const uint8_t* pixels = dataset.pixels.data() + index * channels * plane;
  for (int64_t place = 0; place < plane; ++place)
    for (int64_t c = 0; c < channels; ++c) image.pixels.push_back(pixels[c * plane + place]);
  return image;
}

}  // namespace

bool can_be_seen(const ImageDataset& dataset) {
  const Shape& shape = dataset.image_shape;
  return !dataset.has_values() && shape.rank() == 3 && (shape[0] == 1 || shape[0] == 3);
}

std::vector<Image> images_of(const ImageDataset& dataset, std::span<const int64_t> indices) {
  require<ValueError>(can_be_seen(dataset), "the examples of {} are no images of 1 or 3 channels",
                      dataset.name);
  std::vector<Image> images;
  for (int64_t index : indices) {
    require<ValueError>(index >= 0 && index < dataset.size(), "image {} of {}", index, dataset.size());
    images.push_back(image_at(dataset, index));
  }
  return images;
}

}  // namespace treadle
