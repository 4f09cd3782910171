#include "treadle/compile/fixed_operands.h"

#include "treadle/core/runtime.h"

namespace treadle {
namespace {

/// From the tensor's first element to behind its last one.
size_t bytes_of(const Tensor& tensor) {
  return size_t(reach(tensor.shape(), tensor.strides())) * size_of(tensor.dtype());
}

}  // namespace

void FixedOperands::bind(const Program& program, std::span<const Tensor> arguments,
                         const ReplayResults& results, ProgramMemory& memory) {
  inputs_.resize(size_t(program.inputs()));
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Tensor& tensor = program.input(arguments, int(i));
    const size_t bytes = bytes_of(tensor);
    if (!inputs_[i]) inputs_[i] = make_intrusive<Storage>(program.device, bytes);
    if (bytes > 0) runtime(program.device).copy_within(inputs_[i]->data(), tensor.raw(), bytes);
  }
  outputs_.resize(results.buffers());
  for (size_t i = 0; i < outputs_.size(); ++i)
    if (!outputs_[i]) outputs_[i] = make_intrusive<Storage>(program.device, results.bytes(int(i)));
  memory.bind_inputs([this](int number) { return inputs_[size_t(number)]->data(); });
  memory.bind_outputs([this](int number) { return outputs_[size_t(number)]->data(); });
}

void FixedOperands::copy_results(const ReplayResults& results) const {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Storage& from = *outputs_[i];
    runtime(from.device()).copy_within(results.storage(int(i))->data(), from.data(), from.bytes());
  }
}

}  // namespace treadle
