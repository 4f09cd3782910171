#include "treadle/graph/step_graph.h"

#include <algorithm>
#include <utility>

#include "treadle/graph/op.h"
#include "treadle/graph/settings.h"

namespace treadle {

/// Calls change(steps of a buffer, id) for each operand of the step.
template <class Change>
void StepGraph::change_uses(size_t id, Change change) {
  const Step& step = steps_[id];
  auto each = [&](const std::vector<int>& values, std::vector<size_t> Uses::*list) {
    for (int value : values)
      if (value != kNoValue) change(uses_[size_t(buffer_of(value))].*list, id);
  };
  each(step.outputs, &Uses::makers);
  each(step.inputs, &Uses::readers);
  each(mutated_values(step), &Uses::writers);
}

void StepGraph::link(size_t id) {
  change_uses(id, [](std::vector<size_t>& ids, size_t one) { ids.push_back(one); });
}

void StepGraph::unlink(size_t id) {
  change_uses(
      id, [](std::vector<size_t>& ids, size_t one) { ids.erase(std::find(ids.begin(), ids.end(), one)); });
}

void StepGraph::number_from(size_t first, size_t end) {
  for (size_t at = first; at < end; ++at) positions_[order_[at]] = at;
}

void StepGraph::replace(size_t at, Step step) {
  const size_t id = order_[at];
  unlink(id);
  steps_[id] = std::move(step);
  link(id);
}

void StepGraph::insert(size_t before, Step step) {
  const size_t id = steps_.size();
  steps_.push_back(std::move(step));
  positions_.push_back(0);
  order_.insert(order_.begin() + int64_t(before), id);
  number_from(before, size());
  link(id);
}

void StepGraph::erase(size_t at) {
  const size_t id = order_[at];
  unlink(id);
  steps_[id] = {};
  order_.erase(order_.begin() + int64_t(at));
  number_from(at, size());
}

void StepGraph::move(size_t from, size_t to) {
  const auto first = order_.begin();
  if (to <= from)
    std::rotate(first + int64_t(to), first + int64_t(from), first + int64_t(from) + 1);
  else
    std::rotate(first + int64_t(from), first + int64_t(from) + 1, first + int64_t(to) + 1);
  number_from(std::min(from, to), std::max(from, to) + 1);
}

int StepGraph::add_buffer(GraphBuffer buffer) {
  buffers_.push_back(std::move(buffer));
  uses_.emplace_back();
  return int(buffers_.size()) - 1;
}

int StepGraph::add_value(GraphValue value) {
  values_.push_back(std::move(value));
  return int(values_.size()) - 1;
}

int StepGraph::reshaped(int value, const Shape& shape) {
  const GraphValue from = values_[size_t(value)];
  return add_value({from.buffer, from.offset, TensorSpec::of(shape, from.spec.dtype)});
}

void StepGraph::hand_out(int value) {
  GraphBuffer& buffer = buffers_[size_t(buffer_of(value))];
  if (buffer.kind != GraphBuffer::Kind::result) return;
  buffer.kind = GraphBuffer::Kind::output;
  buffer.number = outputs_++;
}

bool StepGraph::same_elements(int a, int b) const {
  const TensorSpec &one = spec(a), &other = spec(b);
  return buffer_of(a) == buffer_of(b) && offset_of(a) == offset_of(b) && is_row_major(one) &&
         is_row_major(other) && one.shape.numel() == other.shape.numel();
}

bool StepGraph::is_ones(int value) const {
  return value != kNoValue && memory_of(value).holds_ones && uses_of(value).writers.size() <= 1;
}

int StepGraph::mentions(int value) const {
  const Uses& uses = uses_of(value);
  return int(is_outside(value)) + int(uses.makers.size() + uses.readers.size());
}

int64_t StepGraph::maker_of(int value, size_t end) const {
  int64_t first = -1;
  for (size_t id : uses_of(value).makers) {
    const size_t at = positions_[id];
    if (at < end && (first < 0 || int64_t(at) < first)) first = int64_t(at);
  }
  return first;
}

std::vector<size_t> StepGraph::readers(int value) const {
  std::vector<size_t> places;
  for (size_t id : uses_of(value).readers) places.push_back(positions_[id]);
  std::sort(places.begin(), places.end());
  return places;
}

std::vector<size_t> StepGraph::readers_of(size_t maker) const {
  const int result = (*this)[maker].outputs[0];
  auto places = readers(result);
  const bool alone = mentions(result) == int(places.size()) + 1;
  if (!alone || (!places.empty() && places[0] <= maker)) places.clear();
  return places;
}

int64_t StepGraph::sole_reader_of(size_t maker) const {
  const std::vector<int>& made = (*this)[maker].outputs;
  if (made.empty() || made[0] == kNoValue) return -1;
  const auto places = readers_of(maker);
  return !places.empty() && places.front() == places.back() ? int64_t(places[0]) : -1;
}

bool StepGraph::writes_between(size_t begin, size_t end, const std::vector<int>& values) const {
  auto lies_between = [&](size_t id) { return positions_[id] >= begin && positions_[id] < end; };
  return std::any_of(values.begin(), values.end(), [&](int value) {
    if (value == kNoValue) return false;
    const auto& writers = uses_of(value).writers;
    return std::any_of(writers.begin(), writers.end(), lies_between);
  });
}

int64_t StepGraph::last_of(const std::vector<size_t>& ids, size_t end) const {
  int64_t last = -1;
  for (size_t id : ids)
    if (positions_[id] < end) last = std::max(last, int64_t(positions_[id]));
  return last;
}

int64_t StepGraph::last_write(int value, size_t end) const {
  if (value == kNoValue) return -1;
  return std::max(last_of(uses_of(value).makers, end), last_of(uses_of(value).writers, end));
}

int64_t StepGraph::last_mention(int value, size_t end) const {
  if (value == kNoValue) return -1;
  return std::max(last_write(value, end), last_of(uses_of(value).readers, end));
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
