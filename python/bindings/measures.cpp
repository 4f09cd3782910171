#include "python/bindings/measures.h"

#include <algorithm>
#include <numeric>

#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/train/class_loss.h"
#include "treadle/train/evaluation_mode.h"

namespace treadle::python {
namespace {

std::vector<Tensor> predictions(Module& model, std::span<const Tensor> batch) {
  return model.call(batch.first(std::max<size_t>(batch.size() - 1, 1)));
}

/// Takes the GIL.
Tensor value_of(const HeldObject& function, const std::vector<Tensor>& outputs, const Tensor& target) {
  nb::gil_scoped_acquire acquired;
  nb::list arguments;
  for (const Tensor& output : outputs) arguments.append(output);
  arguments.append(target);
  const nb::object value = function.get()(*arguments);
  if (!nb::isinstance<Tensor>(value))
    throw nb::type_error(
        fmt::format("a loss or figure of fit() is a {}, not a tensor", nb::type_name(value.type()).c_str())
            .c_str());
  return nb::cast<Tensor>(value);
}

using Figure = std::function<Tensor(const std::vector<Tensor>& outputs, const Tensor& target)>;

Figure figure_of(nb::object function) {
  if (function.is_none())
    return [](const std::vector<Tensor>& outputs, const Tensor& target) {
      return class_loss(outputs[0], target);
    };
  return [held = HeldObject(std::move(function))](const std::vector<Tensor>& outputs, const Tensor& target) {
    return value_of(held, outputs, target);
  };
}

CompiledFunction::Function all_of(Module& model, std::vector<Figure> figures) {
  return [&model, figures = std::move(figures)](std::span<const Tensor> batch) {
    const std::vector<Tensor> outputs = predictions(model, batch);
    std::vector<Tensor> values;
    for (const Figure& figure : figures) values.push_back(figure(outputs, batch.back()));
    return values;
  };
}

std::vector<Figure> figures_of(nb::object loss, const NamedFunctions& figures) {
  std::vector<Figure> all{figure_of(std::move(loss))};
  for (const auto& [name, function] : figures) all.push_back(figure_of(function));
  return all;
}

}  // namespace

std::function<Tensor(std::span<const Tensor>)> loss_of(Module& model, nb::object function) {
  return [&model, figure = figure_of(std::move(function))](std::span<const Tensor> batch) {
    return figure(predictions(model, batch), batch.back());
  };
}

MeasuredFunction::MeasuredFunction(Module& model, nb::object loss, const NamedFunctions& figures)
    : names_{"loss"}, model_(model), figures_(all_of(model, figures_of(std::move(loss), figures))) {
  for (const auto& [name, function] : figures) names_.push_back(name);
}

Metrics MeasuredFunction::over(const Examples& examples, int64_t batch_size, int64_t limit,
                               std::stop_token stop) {
  require<ValueError>(batch_size > 0, "evaluate: the batch size is {}, it must be positive", batch_size);
  const NoGrad no_grad;
  const EvaluationMode mode(model_);
  const int64_t size = limit > 0 ? std::min(limit, examples.size()) : examples.size();
  std::vector<int64_t> indices(static_cast<size_t>(size));
  std::iota(indices.begin(), indices.end(), 0);
  std::vector<double> sums(names_.size());
  int64_t seen = 0;
  while (seen < size && !stop.stop_requested()) {
    const int64_t count = std::min(batch_size, size - seen);
    const auto values = figures_(examples.batch(std::span(indices).subspan(size_t(seen), size_t(count))));
    for (size_t i = 0; i < values.size(); ++i) sums[i] += values[i].item() * double(count);
    seen += count;
  }
  Metrics metrics;
  for (size_t i = 0; i < names_.size(); ++i)
    metrics.values[names_[i]] = sums[i] / double(std::max<int64_t>(seen, 1));
  return metrics;
}

}  // namespace treadle::python
