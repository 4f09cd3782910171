#include "treadle/graph/step_graph.h"

#include <algorithm>

#include "treadle/graph/op.h"
#include "treadle/graph/settings.h"

namespace treadle {

int StepGraph::mentions(int value) const {
  const int buffer = buffer_of(value);
  auto lies_there = [&](int other) { return other != kNoValue && buffer_of(other) == buffer; };
  int64_t count = is_outside(value);
  for (size_t i = 0; i < size(); ++i) {
    const Step& step = (*this)[i];
    count += std::count_if(step.inputs.begin(), step.inputs.end(), lies_there);
    count += std::count_if(step.outputs.begin(), step.outputs.end(), lies_there);
  }
  return int(count);
}

bool StepGraph::writes_between(size_t begin, size_t end, const std::vector<int>& values) const {
  for (size_t i = begin; i < end; ++i)
    for (int written : mutated_values((*this)[i]))
      for (int value : values)
        if (value != kNoValue && buffer_of(value) == buffer_of(written)) return true;
  return false;
}

bool StepGraph::same_elements(int a, int b) const {
  const TensorSpec &one = spec(a), &other = spec(b);
  return buffer_of(a) == buffer_of(b) && offset_of(a) == offset_of(b) && is_row_major(one) &&
         is_row_major(other) && one.shape.numel() == other.shape.numel();
}

int64_t StepGraph::maker_of(int value, size_t end) const {
  for (size_t i = 0; i < end; ++i)
    for (int output : (*this)[i].outputs)
      if (output != kNoValue && buffer_of(output) == buffer_of(value)) return int64_t(i);
  return -1;
}

std::vector<size_t> StepGraph::readers_of(size_t maker) const {
  const int result = (*this)[maker].outputs[0];
  std::vector<size_t> readers;
  for (size_t k = maker + 1; k < size(); ++k)
    for (int input : (*this)[k].inputs)
      if (input != kNoValue && buffer_of(input) == buffer_of(result)) readers.push_back(k);
  if (mentions(result) != int(readers.size()) + 1) readers.clear();
  return readers;
}

std::vector<int> mutated_values(const Step& step) {
  std::vector<int> values;
  for (int index : mutated_inputs(*step.op, int(step.inputs.size())))
    values.push_back(step.inputs[size_t(index)]);
  return values;
}

bool is_pinned(const Op& op) { return settings().variants.count(op.name) > 0; }

bool same_options(const Step& a, const Step& b) {
  const OptionsSchema* schema = a.op->options;
  return !schema || schema->describe(a.attributes) == schema->describe(b.attributes);
}

bool is_row_major(const TensorSpec& spec) { return is_contiguous(spec.shape, spec.strides); }

}  // namespace treadle
