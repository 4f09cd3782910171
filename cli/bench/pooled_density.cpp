#include "cli/bench/pooled_density.h"

#include <map>

#include "treadle/nn/activation.h"
#include "treadle/nn/pooling.h"
#include "treadle/ops/loss/cross_entropy.h"

namespace treadle::cli {
namespace {

void collect_leaves(const Module& module, std::map<const Module*, std::shared_ptr<Module>>& leaves) {
  for (const auto& [name, child] : module.children()) {
    if (child->children().empty()) leaves[child.get()] = child;
    collect_leaves(*child, leaves);
  }
}

/// The layers in the order in which they run; empty when one does not take the result of the one before.
std::vector<std::shared_ptr<Module>> chain_of(Module& model, const Tensor& images) {
  std::map<const Module*, std::shared_ptr<Module>> leaves;
  collect_leaves(model, leaves);
  std::vector<std::shared_ptr<Module>> chain;
  Tensor last = images;
  bool connected = true;
  ObserveModules observe([&](const Module& module, std::span<const Tensor> in, std::span<const Tensor> out) {
    auto leaf = leaves.find(&module);
    if (out.empty() || leaf == leaves.end()) return;
    connected = connected && in.size() == 1 && out.size() == 1 && in[0].same_as(last);
    chain.push_back(leaf->second);
    last = out[0];
  });
  Tensor result = model(images);
  if (!connected || !result.same_as(last)) chain.clear();
  return chain;
}

/// Share of places where the gradient is not zero; where `closed_by_value`, only of values above zero.
double open_share(const Tensor& gradient, const Tensor& value, bool closed_by_value) {
  const auto gradients = gradient.to_doubles(), values = value.to_doubles();
  size_t open = 0;
  for (size_t i = 0; i < gradients.size(); ++i)
    open += gradients[i] != 0 && (!closed_by_value || values[i] > 0);
  return double(open) / double(gradients.size());
}

/// Where the chain is cut: the pooled value, and the leaf that stands for it in what follows.
struct Cut {
  Tensor value, leaf;
  bool after_relu;
};

}  // namespace

std::vector<double> pooled_gradient_density(Module& model, const Batch& batch) {
  std::vector<Cut> cuts;
  Tensor x = batch.images;
  const Module* before = nullptr;
  for (const auto& layer : chain_of(model, batch.images)) {
    x = (*layer)(x);
    if (dynamic_cast<const MaxPool2d*>(layer.get())) {
      cuts.push_back({x, x.detach().set_requires_grad(), dynamic_cast<const ReLU*>(before) != nullptr});
      x = cuts.back().leaf;
    }
    before = layer.get();
  }
  if (cuts.empty()) return {};
  cross_entropy(x, batch.labels).backward();
  std::vector<double> shares(cuts.size());
  for (size_t i = cuts.size(); i-- > 0;) {
    shares[i] = open_share(cuts[i].leaf.grad(), cuts[i].value, cuts[i].after_relu);
    if (i > 0) cuts[i].value.backward(cuts[i].leaf.grad());
  }
  model.zero_grad();
  return shares;
}

}  // namespace treadle::cli
