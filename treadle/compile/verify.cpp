// The checks of a program that do not need its data.
#include <algorithm>

#include "treadle/compile/program.h"
#include "treadle/core/error.h"
#include "treadle/graph/op.h"

namespace treadle {
namespace {

using Kind = ProgramBuffer::Kind;

class Verifier {
 public:
  explicit Verifier(const Program& program) : program_(program), written_(program.buffers.size(), false) {
    for (size_t i = 0; i < program.buffers.size(); ++i) {
      Kind kind = program.buffers[i].kind;
      written_[i] = kind != Kind::result && kind != Kind::output;
    }
  }

  void run() {
    for (size_t i = 0; i < program_.values.size(); ++i) check_bounds(program_.values[i], i);
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      check_step(program_.steps[i], i);
      check_pieces(program_.steps[i], i);
    }
    for (const ProgramOutput& output : program_.outputs)
      require<Error>(output.value == kNoValue || is_written(output.value),
                     "a program returns value {} that no step makes", output.value);
    for (const ExportedGradient& gradient : program_.gradients)
      require<Error>(gradient.value == kNoValue || is_written(gradient.value),
                     "a program leaves value {} as a gradient that no step makes", gradient.value);
    check_arena();
  }

 private:
  bool is_written(int value) const {
    return written_[program_.values[value].buffer] || program_.values[value].spec.shape.numel() == 0;
  }

  /// A value without elements reaches nothing, wherever it is said to begin.
  void check_bounds(const GraphValue& value, size_t number) const {
    if (value.spec.shape.numel() == 0) return;
    const ProgramBuffer& buffer = program_.buffers[value.buffer];
    require<Error>(value.offset >= 0 && size_t(value.offset + reach(value.spec.shape, value.spec.strides)) *
                                                size_of(value.spec.dtype) <=
                                            buffer.bytes,
                   "value {} of a program reaches beyond its buffer of {} bytes", number, buffer.bytes);
  }

  /// The last piece, too, lies within the buffers.
  void check_pieces(const ProgramStep& step, size_t number) const {
    const auto behind = size_t(program_.pieces_of(number) - 1);
    for (const auto* values : {&step.inputs, &step.outputs})
      for (int index : *values) {
        if (index == kNoValue) continue;
        const GraphValue& value = program_.values[size_t(index)];
        const auto elements = size_t(value.offset + reach(value.spec.shape, value.spec.strides));
        require<Error>(value.spec.shape.numel() == 0 || (behind == 0 && value.piece == 0) ||
                           elements * size_of(value.spec.dtype) + value.piece * behind <=
                               program_.buffer_of(index).bytes,
                       "step {} of a program, {}: the last piece of value {} lies beyond its buffer", number,
                       step.op->name, index);
      }
  }

  void check_step(const ProgramStep& step, size_t number) {
    std::vector<TensorSpec> specs;
    for (int value : step.inputs) {
      specs.push_back(value == kNoValue ? TensorSpec{{}, {}, DType::f32, false}
                                        : program_.values[value].spec);
      // An update in place may be the first to write its memory.
      require<Error>(value == kNoValue || is_written(value) || !step.op->mutates.empty(),
                     "step {} of a program, {}, reads value {} before it is written", number, step.op->name,
                     value);
    }
    check_outputs(step, step.op->infer(specs, step.attributes), number);
    for (int index : mutated_inputs(*step.op, int(step.inputs.size())))
      written_[program_.values[step.inputs[index]].buffer] = true;
    for (int value : step.outputs)
      if (value != kNoValue) written_[program_.values[value].buffer] = true;
  }

  void check_outputs(const ProgramStep& step, const std::vector<TensorSpec>& specs, size_t number) const {
    require<Error>(step.outputs.size() <= specs.size(), "step {} of a program, {}, has too many outputs",
                   number, step.op->name);
    for (size_t k = 0; k < step.outputs.size(); ++k) {
      if (step.outputs[k] == kNoValue) continue;
      const TensorSpec& spec = program_.values[step.outputs[k]].spec;
      require<Error>(spec.shape == specs[k].shape && spec.dtype == specs[k].dtype &&
                         (spec.strides == specs[k].strides || !step.op->mutates.empty()),
                     "step {} of a program, {}: output {} is {} with strides {}, the op makes {} with {}",
                     number, step.op->name, k, spec.shape, spec.strides, specs[k].shape, specs[k].strides);
    }
  }

  void check_arena() const {
    for (size_t i = 0; i < program_.buffers.size(); ++i)
      for (size_t j = i + 1; j < program_.buffers.size(); ++j) check_pair(i, j);
  }

  void check_pair(size_t i, size_t j) const {
    const ProgramBuffer &a = program_.buffers[i], &b = program_.buffers[j];
    if (a.kind != Kind::result || b.kind != Kind::result || a.first < 0 || b.first < 0) return;
    bool in_time = a.first <= b.last && b.first <= a.last;
    bool in_space = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
    require<Error>(!in_time || !in_space, "buffers {} and {} of a program overlap while both are needed", i,
                   j);
    require<Error>(a.offset + a.bytes <= program_.statistics.arena_bytes,
                   "buffer {} of a program lies beyond its arena", i);
  }

  const Program& program_;
  std::vector<bool> written_;
};

}  // namespace

void verify_program(const Program& program) { Verifier(program).run(); }

}  // namespace treadle
