#include <algorithm>
#include <cmath>

#include "treadle/data/dataset_registry.h"
#include "treadle/data/file_names.h"
#include "treadle/data/hold_out.h"
#include "treadle/formats/npy.h"

namespace treadle::datasets {
namespace {

namespace fs = std::filesystem;

/// The file itself, or the only one of its kind in a folder.
fs::path find(const fs::path& path) {
  if (is_file(path)) return path.extension() == ".npz" ? path : fs::path();
  std::vector<fs::path> found;
  std::error_code ignored;
  for (fs::directory_iterator entry(path, ignored), end; !ignored && entry != end; entry.increment(ignored))
    if (entry->path().extension() == ".npz" && is_file(entry->path())) found.push_back(entry->path());
  return found.size() == 1 ? found.front() : fs::path();
}

bool is_channels(int64_t extent) { return extent == 1 || extent == 3; }

/// Where the axes of an array of bytes lie, as [N, C, H, W]; of rank 0 where they are none of images.
Tensor as_images(const Tensor& x) {
  const Shape& s = x.shape();
  const Strides& t = x.strides();
  if (x.dtype() != DType::u8) return {};
  if (x.rank() == 3) return x.alias({s[0], 1, s[1], s[2]}, {t[0], t[1], t[1], t[2]});
  if (x.rank() != 4) return {};
  if (is_channels(s[3])) return x.alias({s[0], s[3], s[1], s[2]}, {t[0], t[3], t[1], t[2]});
  return is_channels(s[1]) ? x : Tensor();
}

Shape example_shape(const Tensor& x) {
  Shape shape;
  for (int axis = 1; axis < x.rank(); ++axis) shape.push_back(x.size(axis));
  return shape;
}

std::vector<float> finite_values(const Tensor& x, const std::string& what) {
  std::vector<float> values;
  values.reserve(size_t(x.numel()));
  for (double value : x.to_doubles()) {
    require<FormatError>(std::isfinite(float(value)), "{}: element {} is {}, not a finite number of 32 bits",
                         what, values.size(), value);
    values.push_back(float(value));
  }
  return values;
}

std::vector<int32_t> labels_of(const Tensor& y, int64_t count, const std::string& what) {
  const bool column = y.rank() == 2 && y.size(1) == 1;
  require<FormatError>((y.rank() == 1 || column) && y.size(0) == count,
                       "{}: has shape {}, labels of {} examples have [{}]", what, y.shape(), count, count);
  require<FormatError>(is_integer(y.dtype()), "{}: holds {}, labels are whole numbers", what,
                       name_of(y.dtype()));
  std::vector<int32_t> labels;
  for (double value : y.to_doubles()) {
    require<FormatError>(value >= 0 && value < 1e6, "{}: label {} is {}, labels are 0 to 999,999", what,
                         labels.size(), value);
    labels.push_back(int32_t(value));
  }
  return labels;
}

/// The arrays x_PART and y_PART.
ImageDataset load_part(const std::vector<NamedArray>& arrays, const std::string& part,
                       const std::string& file) {
  const Tensor *x = find_array(arrays, "x_" + part), *y = find_array(arrays, "y_" + part);
  require<FormatError>(x && y,
                       "{}: lacks the array {}_{}; x_train and y_train must be there, x_test with y_test",
                       file, x ? "y" : "x", part);
  require<FormatError>(x->rank() >= 2, "{}: x_{} has shape {}, at least two axes are needed: [N, D]", file,
                       part, x->shape());
  ImageDataset dataset;
  const Tensor images = as_images(*x);
  dataset.image_shape = example_shape(images.defined() ? images : *x);
  if (images.defined())
    dataset.pixels = images.to_vector<uint8_t>();
  else
    dataset.values = finite_values(*x, fmt::format("{}: x_{}", file, part));
  dataset.labels = labels_of(*y, x->size(0), fmt::format("{}: y_{}", file, part));
  return dataset;
}

DatasetSplits load(const fs::path& path, const DatasetOptions& options) {
  const std::vector<NamedArray> arrays = load_npz(path);
  DatasetSplits splits;
  splits.train = load_part(arrays, "train", path.string());
  if (find_array(arrays, "x_test") || find_array(arrays, "y_test"))
    splits.test = load_part(arrays, "test", path.string());
  else
    hold_out_test(splits, kTestShare, options.seed);
  return splits;
}

}  // namespace

/// NumPy's archives, with the arrays' names that Keras uses.
void register_npz_file(DatasetRegistry& registry) {
  registry.add({.place = 4, .files = "an .npz file of x_train and y_train", .find = find, .load = load});
}

}  // namespace treadle::datasets
