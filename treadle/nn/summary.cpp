#include "treadle/nn/summary.h"

#include <map>

#include "treadle/graph/autograd.h"

namespace treadle {
namespace {

void collect_names(const Module& module, std::map<const Module*, std::string>& names) {
  for (auto& [name, child] : module.children()) {
    names[child.get()] = name;
    collect_names(*child, names);
  }
}

std::vector<Shape> shapes_of(std::span<const Tensor> tensors) {
  std::vector<Shape> shapes;
  for (const Tensor& tensor : tensors) shapes.push_back(tensor.shape());
  return shapes;
}

int64_t elements_bytes(const Tensor& tensor) { return tensor.numel() * int64_t(size_of(tensor.dtype())); }

template <class Tensors>
int64_t elements_bytes(const Tensors& tensors) {
  int64_t bytes = 0;
  for (const Tensor& tensor : tensors) bytes += elements_bytes(tensor);
  return bytes;
}

/// Fills in one row per module as they run; children of a module run inside it.
class SummaryRecorder {
 public:
  SummaryRecorder(const Module& model, ModelSummary& summary) : summary_(summary) {
    collect_names(model, names_);
  }

  void operator()(const Module& module, std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
    // A module that gives no tensors, such as one of Python's that gives a dict, ends as it has begun.
    const bool ends = !outputs.empty() || (!open_.empty() && open_.back().module == &module);
    ends ? end(module, outputs) : begin(module, inputs);
  }

 private:
  void begin(const Module& module, std::span<const Tensor> inputs) {
    open_.push_back({&module, summary_.layers.size()});
    summary_.layers.push_back({names_[&module],
                               module.describe(),
                               int(open_.size()) - 1,
                               shapes_of(inputs),
                               {},
                               module.parameter_count(),
                               0});
  }

  void end(const Module& module, std::span<const Tensor> outputs) {
    LayerSummary& layer = summary_.layers[open_.back().row];
    open_.pop_back();
    layer.outputs = shapes_of(outputs);
    layer.multiply_adds = module.multiply_adds(layer.inputs, layer.outputs);
    summary_.multiply_adds += layer.multiply_adds;
    if (module.children().empty()) summary_.activation_bytes += elements_bytes(outputs);
  }

  ModelSummary& summary_;
  std::map<const Module*, std::string> names_;
  struct Open {
    const Module* module;
    size_t row;
  };
  std::vector<Open> open_;
};

}  // namespace

ModelSummary summarize(Module& model, std::span<const Tensor> inputs) {
  ModelSummary summary;
  NoGrad no_grad;
  ObserveModules observe(SummaryRecorder(model, summary));
  model.call(inputs);
  summary.parameters = model.parameter_count();
  summary.parameter_bytes = elements_bytes(model.parameters());
  summary.input_bytes = elements_bytes(inputs);
  return summary;
}

ModelSummary summarize(Module& model, const Shape& input) {
  const auto parameters = model.parameters();
  const Tensor x = parameters.empty() ? Tensor::zeros(input)
                                      : Tensor::zeros(input, parameters[0].dtype(), parameters[0].device());
  return summarize(model, {&x, 1});
}

}  // namespace treadle
