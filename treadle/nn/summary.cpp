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

/// Fills in one row per module as they run; children of a module run inside it.
class Recorder {
 public:
  Recorder(const Module& model, ModelSummary& summary) : summary_(summary) { collect_names(model, names_); }

  void operator()(const Module& module, const Tensor& input, const Tensor& output) {
    if (!output.defined()) {
      open_.push_back(summary_.layers.size());
      summary_.layers.push_back({names_[&module],
                                 module.describe(),
                                 int(open_.size()) - 1,
                                 input.shape(),
                                 {},
                                 module.parameter_count(),
                                 0});
      return;
    }
    LayerSummary& layer = summary_.layers[open_.back()];
    open_.pop_back();
    layer.output = output.shape();
    layer.multiply_adds = module.multiply_adds(input.shape(), output.shape());
    summary_.multiply_adds += layer.multiply_adds;
    if (module.children().empty())
      summary_.activation_bytes += output.numel() * int64_t(size_of(output.dtype()));
  }

 private:
  ModelSummary& summary_;
  std::map<const Module*, std::string> names_;
  std::vector<size_t> open_;
};

}  // namespace

ModelSummary summarize(Module& model, const Shape& input) {
  ModelSummary summary;
  NoGrad no_grad;
  auto parameters = model.parameters();
  Tensor x = Tensor::zeros(input, DType::f32, parameters.empty() ? kCpu : parameters[0].device());
  ObserveModules observe(Recorder(model, summary));
  model(x);
  summary.parameters = model.parameter_count();
  summary.parameter_bytes = summary.parameters * 4;
  summary.input_bytes = input.numel() * 4;
  return summary;
}

}  // namespace treadle
