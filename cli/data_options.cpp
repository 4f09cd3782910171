#include "cli/data_options.h"

#include <charconv>
#include <optional>

#include "treadle/core/error.h"

namespace treadle::cli {
namespace {

struct Size {
  int64_t height = 0, width = 0;
};

std::optional<int64_t> extent_in(std::string_view text) {
  constexpr int64_t kMost = 65'535;
  int64_t extent = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && extent >= 1 && extent <= kMost ? std::optional(extent) : std::nullopt;
}

std::optional<Size> size_in(std::string_view text) {
  const size_t cross = text.find('x');
  const auto height = extent_in(text.substr(0, cross));
  const auto width = cross == text.npos ? height : extent_in(text.substr(cross + 1));
  return height && width ? std::optional(Size{*height, *width}) : std::nullopt;
}

void take_shape(const Shape& shape, DatasetOptions& options) {
  if (shape.rank() == 3) options.channels = shape[0], options.height = shape[1], options.width = shape[2];
}

}  // namespace

OptionCheck DataOptions::image_size_text() {
  return {[](std::string& text) {
            return text.empty() || size_in(text)
                       ? ""
                       : fmt::format("'{}' is no size of images, as 28 or 28x32", text);
          },
          ""};
}

DatasetOptions dataset_options(const DataOptions& given, const ModelInfo& model, uint64_t seed) {
  DatasetOptions options{.seed = seed, .label_column = given.label_column};
  if (!model.follows_data) take_shape(model.input, options);
  if (!given.image_size.empty()) {
    const Size size = *size_in(given.image_size);
    options.height = size.height, options.width = size.width;
  }
  if (!given.colours.empty()) options.channels = given.colours == "grey" ? 1 : 3;
  return options;
}

DatasetOptions dataset_options(const Checkpoint& checkpoint) {
  DatasetOptions options{.seed = checkpoint.seed};
  take_shape(checkpoint.input, options);
  const auto label = checkpoint.training.find("--label-column");
  if (label != checkpoint.training.end()) options.label_column = label->second;
  return options;
}

}  // namespace treadle::cli
