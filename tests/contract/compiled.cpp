// A compiled function of one op gives the bits of the eager call, in each of three replays.
#include <cstring>

#include "tests/contract/contract.h"
#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/layout/copy.h"

namespace treadle::contract {
OneCall::OneCall(const Trial& trial, const std::vector<Tensor>& inputs) : trial_(trial) {
  for (const Tensor& input : inputs) defined_.push_back(input.defined());
}

std::vector<Tensor> OneCall::operator()(std::span<const Tensor> given) const {
  std::vector<Tensor> inputs;
  for (size_t i = 0, next = 0; i < defined_.size(); ++i)
    inputs.push_back(defined_[i] ? given[next++] : Tensor());
  if (trial_.op.mutates.empty()) return apply(trial_.op, inputs, trial_.test_case.attributes);
  std::vector<Tensor> written;
  for (int index : mutated_inputs(trial_.op, int(inputs.size()))) {
    inputs[size_t(index)] = clone(inputs[size_t(index)]);
    written.push_back(inputs[size_t(index)]);
  }
  apply_in_place(trial_.op, inputs, trial_.test_case.attributes);
  return written;
}

std::vector<Tensor> OneCall::defined(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> given;
  for (const Tensor& input : inputs)
    if (input.defined()) given.push_back(input);
  return given;
}

std::string differences(const std::vector<Tensor>& wanted, const std::vector<Tensor>& got) {
  for (size_t k = 0; k < wanted.size(); ++k) {
    auto a = wanted[k].to_doubles(), b = got[k].to_doubles();
    if (a.size() != b.size()) return fmt::format("output {} has another size", k);
    if (!a.empty() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) != 0)
      return fmt::format("output {} differs from the eager call", k);
  }
  return "";
}

void check_compiled(const Trial& trial, Device device, Tally& tally) {
  if (trial.op.name == "to_device") return;  // not part of programs
  NoGrad no_grad;
  auto inputs = trial.tensors(device);
  OneCall call(trial, inputs);
  const std::vector<Tensor> given = OneCall::defined(inputs);
  auto eager = call(given);
  CompiledFunction compiled(call, {.measure = false, .graph = CompileOptions::Graph::always});
  for (int replay = 0; replay < (tally.once() ? 2 : 3); ++replay)
    if (auto message = differences(eager, compiled(given)); !message.empty())
      return tally.failed(
          fmt::format("{} on {}, replay {}: {}", trial.name(), to_string(device), replay, message));
  tally.passed("compiled", device);
}

}  // namespace treadle::contract
