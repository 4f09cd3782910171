/// Data sets, their loading and downloading, and batches of them.
#include <fmt/core.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include "python/bindings/held_object.h"
#include "python/bindings/interruption.h"
#include "python/bindings/options.h"
#include "python/bindings/rooms.h"
#include "treadle/core/error.h"
#include "treadle/data/download.h"
#include "treadle/data/fingerprint.h"
#include "treadle/data/hold_out.h"
#include "treadle/data/loader.h"
#include "treadle/data/pixel_statistics.h"

namespace treadle::python {
namespace {

using Normalization = std::pair<std::vector<float>, std::vector<float>>;

PixelNormalization normalization_of(const Normalization& pair) { return {pair.first, pair.second}; }

/// A tensor over memory of an object that it keeps alive.
Tensor over(nb::handle owner, const void* memory, const Shape& shape, DType dtype) {
  return Tensor::over(const_cast<void*>(memory), shape, contiguous_strides(shape), dtype, kCpu,
                      keeping(nb::borrow(owner)));
}

ImageDataset dataset_of(const Tensor& examples, const Tensor& labels, std::vector<std::string> classes,
                        const std::string& name) {
  require<ShapeError>(examples.rank() >= 2, "a data set of shape {}: examples are rows of one or more axes",
                      examples.shape());
  require<ShapeError>(labels.rank() == 1 && labels.shape()[0] == examples.shape()[0],
                      "a data set has examples of shape {} and labels of shape {}: one label for each",
                      examples.shape(), labels.shape());
  ImageDataset dataset{
      .name = name, .classes = std::move(classes), .image_shape = {}, .pixels = {}, .labels = {}};
  for (int i = 1; i < examples.rank(); ++i) dataset.image_shape.push_back(examples.shape()[i]);
  if (examples.dtype() == DType::u8)
    dataset.pixels = examples.to_vector<uint8_t>();
  else
    dataset.values = examples.to_vector<float>();
  dataset.labels = labels.to_vector<int32_t>();
  const int64_t count = int64_t(dataset.classes.size());
  for (int32_t label : dataset.labels)
    require<ValueError>(label >= 0 && label < count, "the label {} is none of {} classes", label, count);
  require_whole(dataset);
  return dataset;
}

nb::tuple example(const ImageDataset& self, int64_t index) {
  if (index < -self.size() || index >= self.size())
    throw nb::index_error(fmt::format("example {} of {}", index, self.size()).c_str());
  if (index < 0) index += self.size();
  const Tensor x = Tensor::empty(self.image_shape);
  convert_example(self, index, x.data<float>());
  return nb::make_tuple(x, self.labels[size_t(index)]);
}

Tensor examples_of(nb::handle self) {
  const auto& data = nb::cast<const ImageDataset&>(self);
  const Shape shape = batch_shape(data.size(), data.image_shape);
  return data.has_values() ? over(self, data.values.data(), shape, DType::f32)
                           : over(self, data.pixels.data(), shape, DType::u8);
}

void bind_image_dataset(nb::module_& m) {
  nb::class_<ImageDataset>(m, "ImageDataset", nb::is_weak_referenceable(),
                           "Images of one size, or examples of numbers, with a label each, in memory.")
      .def("__init__",
           [](ImageDataset* self, const Tensor& examples, const Tensor& labels,
              std::vector<std::string> classes, const std::string& name) {
             new (self) ImageDataset(dataset_of(examples, labels, std::move(classes), name));
           })
      .def("__len__", &ImageDataset::size)
      .def("__getitem__", example, nb::arg("index"),
           "An example as float32, pixel/255 of images, and its label.")
      .def_ro("name", &ImageDataset::name, "What it is called.")
      .def_rw("classes", &ImageDataset::classes, "The name of each label.")
      .def_ro("shape", &ImageDataset::image_shape, "Of one example: [C, H, W] of images.")
      .def_prop_ro(
          "is_images", [](const ImageDataset& self) { return !self.has_values(); },
          "Whether examples are pixels, not numbers.")
      .def_prop_ro("examples", examples_of,
                   "All of them [N, …shape]: the uint8 pixels, or float32 numbers, over the set's memory.")
      .def_prop_ro(
          "labels",
          [](nb::handle self) {
            const auto& data = nb::cast<const ImageDataset&>(self);
            return over(self, data.labels.data(), {data.size()}, DType::i32);
          },
          "int32 [N], over the set's memory.")
      .def("__repr__", [](const ImageDataset& self) {
        return fmt::format("ImageDataset({}, {} examples of shape {}, {} classes)", self.name, self.size(),
                           to_string(self.image_shape), self.classes.size());
      });
}

void bind_splits(nb::module_& m) {
  using S = DatasetSplits;
  constexpr auto inside = nb::rv_policy::reference_internal;
  nb::class_<S>(m, "DatasetSplits", nb::is_weak_referenceable(), "The parts of a data set.")
      .def_prop_ro(
          "train", [](S& self) -> ImageDataset& { return self.train; }, inside, "What is trained on.")
      .def_prop_ro(
          "test", [](S& self) -> ImageDataset& { return self.test; }, inside, "What figures are measured on.")
      .def_prop_ro(
          "validation", [](S& self) { return self.validation.size() > 0 ? &self.validation : nullptr; },
          inside, "What hold_out() has moved there; None before.")
      .def(
          "hold_out",
          [](nb::object self, double share, uint64_t seed) -> SelfObject {
            hold_out(nb::cast<S&>(self), share, seed);
            return self;
          },
          nb::arg("share"), nb::arg("seed") = 0,
          "Moves a share of the training examples, drawn by the seed, to `validation`; returns the parts.")
      .def(
          "fingerprint",
          [](const S& self) {
            nb::gil_scoped_release released;
            return fingerprint(self);
          },
          "What the set holds, as one line to read and to compare.")
      .def("__repr__", [](const S& self) {
        return fmt::format("DatasetSplits({}, {} training, {} validation, {} test examples of shape {})",
                           self.train.name, self.train.size(), self.validation.size(), self.test.size(),
                           to_string(self.train.image_shape));
      });
  m.def("_load", [](const std::string& name, uint64_t seed, int64_t height, int64_t width, int64_t channels,
                    const std::string& label_column) {
    nb::gil_scoped_release released;
    return load_dataset(name, {seed, height, width, channels, label_column});
  });
  m.def("_held_out", [](const ImageDataset& train, double share, uint64_t seed) {
    S splits{train, {}};
    hold_out(splits, share, seed);
    return splits;
  });
  m.def("_train_part", [](S& splits) { return std::move(splits.train); });
  m.def("_test_part", [](S& splits) { return std::move(splits.test); });
  m.def("_lasting_name", lasting_name);
}

void bind_known(nb::module_& m) {
  nb::class_<KnownDataset>(m, "KnownDataset", "A data set that has a name.")
      .def_ro("name", &KnownDataset::name, "What load() knows it by.")
      .def_ro("description", &KnownDataset::description, "What it is, in one line.")
      .def_ro("classes", &KnownDataset::classes, "The name of each label.")
      .def_prop_ro(
          "found",
          [](const KnownDataset& self) -> nb::object {
            return self.found.empty() ? nb::none() : nb::cast(self.found);
          },
          "The folder that load() would read; None when there is none.")
      .def_ro("how_to_get", &KnownDataset::how_to_get, "What to do where it is not found.")
      .def_ro("places", &KnownDataset::places, "Where it is looked for, best first.")
      .def_ro("made", &KnownDataset::made, "By a seed: there is nothing to find or to get.")
      .def("__repr__", [](const KnownDataset& self) { return fmt::format("KnownDataset({})", self.name); });
  m.def("known_datasets", known_datasets, "All data sets that have a name.");
  nb::class_<DownloadResult>(m, "DownloadResult", "What a download has brought.")
      .def_ro("folder", &DownloadResult::folder, "Where the files are.")
      .def_ro("files", &DownloadResult::files, "Those that came.")
      .def_ro("unchecked", &DownloadResult::unchecked, "Of them, those whose contents nothing is known of.");
  m.def(
      "download",
      [](const std::string& name, std::optional<std::filesystem::path> folder,
         std::vector<std::string> mirrors, int patience) {
        Interruption interruption;
        const DownloadOptions options{folder.value_or(""), std::move(mirrors), patience,
                                      interruption.token()};
        return interruption.around([&] { return download_dataset(name, options); });
      },
      nb::arg("name"), nb::arg("folder").none() = nb::none(), nb::arg("mirrors") = std::vector<std::string>(),
      nb::arg("patience") = DownloadOptions().patience,
      "Gets what is missing of a data set from the first mirror that has it, and checks it. A later call "
      "goes on where this one was interrupted. Raises DatasetAbsent where no mirror gives a file, ValueError "
      "for a name that is unknown, FileError.");
}

nb::list augmentation_kinds() {
  nb::list all;
  for (const AugmentationKind& kind : known_augmentation_kinds()) all.append(described_kind(kind));
  return all;
}

/// Batches of an ImageDataset, which it keeps alive.
class ImageBatches {
 public:
  ImageBatches(nb::object dataset, const BatchSampler& sampler, const LoaderOptions& options)
      : dataset_(std::move(dataset)), loader_(nb::cast<const ImageDataset&>(dataset_), sampler, options) {}

  std::pair<Tensor, Tensor> next() {
    nb::gil_scoped_release released;
    AugmentedBatch batch = loader_.next();
    return {std::move(batch.examples), std::move(batch.targets)};
  }

 private:
  nb::object dataset_;
  Loader loader_;
};

BatchSampler sampler_at(int64_t size, int64_t batch_size, uint64_t seed, bool shuffled, int64_t epoch) {
  BatchSampler sampler(size, batch_size, seed, shuffled);
  sampler.restore({epoch, 0});
  return sampler;
}

void bind_batches(nb::module_& m) {
  nb::class_<BatchSampler>(m, "_Sampler")
      .def(
          "__init__",
          [](BatchSampler* self, int64_t size, int64_t batch_size, uint64_t seed, bool shuffled,
             int64_t epoch) { new (self) BatchSampler(sampler_at(size, batch_size, seed, shuffled, epoch)); })
      .def("next", [](BatchSampler& self) {
        const auto indices = self.next();
        return std::vector<int64_t>(indices.begin(), indices.end());
      });
  nb::class_<ImageBatches>(m, "_ImageBatches")
      .def(
          "__init__",
          [](ImageBatches* self, nb::object dataset, int64_t batch_size, uint64_t seed, bool shuffled,
             int64_t epoch, const std::string& augment, const Normalization& normalization,
             std::optional<int> threads, int64_t ahead) {
            const int64_t size = nb::cast<const ImageDataset&>(dataset).size();
            const LoaderOptions options{Augmentations::parse(augment), normalization_of(normalization), seed,
                                        threads, ahead};
            new (self) ImageBatches(std::move(dataset), sampler_at(size, batch_size, seed, shuffled, epoch),
                                    options);
          },
          nb::arg("dataset"), nb::arg("batch_size"), nb::arg("seed"), nb::arg("shuffled"), nb::arg("epoch"),
          nb::arg("augment"), nb::arg("normalization"), nb::arg("threads").none(), nb::arg("ahead"))
      .def("next", &ImageBatches::next);
  m.def("_augmentation_kinds", augmentation_kinds);
  m.def("_check_augmentations", [](const std::string& text) { Augmentations::parse(text); });
  m.def(
      "measure_normalization",
      [](const ImageDataset& dataset) {
        nb::gil_scoped_release released;
        const PixelNormalization found = measure_normalization(dataset);
        return Normalization(found.mean, found.deviation);
      },
      nb::arg("dataset"),
      "Mean and standard deviation of pixel/255 for each channel, or of the numbers for each index of their "
      "first axis: two lists.");
}

}  // namespace

void bind_data(nb::module_& m) {
  nb::module_ part = m.def_submodule("_data", "Data sets.");
  bind_image_dataset(part);
  bind_splits(part);
  bind_known(part);
  bind_batches(part);
}

}  // namespace treadle::python
