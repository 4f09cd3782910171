#include "python/bindings/examples.h"

#include "python/bindings/arguments.h"
#include "treadle/core/error.h"
#include "treadle/data/text.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/index_select.h"
#include "treadle/train/classification/plain_images.h"
#include "treadle/train/language/text_windows.h"

namespace treadle::python {

TensorExamples::TensorExamples(std::vector<Tensor> tensors, Device device)
    : tensors_(std::move(tensors)), device_(device) {
  require<ValueError>(!tensors_.empty(), "examples of no tensors");
  for (const Tensor& tensor : tensors_)
    require<ShapeError>(tensor.rank() > 0 && tensor.shape()[0] == tensors_[0].shape()[0],
                        "tensors of shapes {} and {} are not rows of the same examples", tensors_[0].shape(),
                        tensor.shape());
}

std::vector<Tensor> TensorExamples::batch(std::span<const int64_t> indices) const {
  const Tensor places =
      Tensor::from(std::vector<int64_t>(indices.begin(), indices.end()), {int64_t(indices.size())});
  std::vector<Tensor> rows;
  for (const Tensor& tensor : tensors_)
    rows.push_back(to(index_select(tensor, 0, to(places, tensor.device())), device_));
  return rows;
}

std::vector<Tensor> PythonExamples::batch(std::span<const int64_t> indices) const {
  std::vector<Tensor> tensors;
  try {
    tensors = call(indices);
  } catch (nb::python_error& error) {
    nb::gil_scoped_acquire acquired;
    if (!interruption_ || !error.matches(PyExc_KeyboardInterrupt)) throw;
    interruption_->stop_with(std::current_exception());
    tensors = call(indices);
  }
  for (Tensor& tensor : tensors) tensor = to(tensor, device_);
  return tensors;
}

std::vector<Tensor> PythonExamples::call(std::span<const int64_t> indices) const {
  nb::gil_scoped_acquire acquired;
  nb::list list;
  for (int64_t index : indices) list.append(index);
  return nb::cast<std::vector<Tensor>>(batch_.get()(list));
}

std::shared_ptr<const Examples> examples_in(nb::handle data, const ClassifierOptions& options, bool training,
                                            Interruption& interruption) {
  if (data.is_none()) return nullptr;
  if (nb::isinstance<ImageDataset>(data)) {
    const auto& images = nb::cast<const ImageDataset&>(data);
    if (training) return training_images(images, options);
    return std::make_shared<PlainImages>(images, options.description.normalization, options.device);
  }
  if (nb::isinstance<TextDataset>(data)) {
    const auto& text = nb::cast<const TextDataset&>(data);
    return std::make_shared<TextWindows>(text.train, text.block, options.seed, options.device);
  }
  if (nb::isinstance<PythonExamples>(data)) nb::cast<PythonExamples&>(data).watch(&interruption);
  return {std::shared_ptr<void>(), &nb::cast<const Examples&>(data)};  // Python's object owns them
}

}  // namespace treadle::python
