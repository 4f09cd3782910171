/// StepGraph: what a function does, as steps over values, with definitions and uses. Recording fills it,
/// fusions and other passes look at it and change it, planning makes a program of it.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "treadle/core/tensor.h"
#include "treadle/graph/step.h"

namespace treadle {

/// Memory that values lie in.
struct GraphBuffer {
  enum class Kind : uint8_t {
    input,     ///< an argument of the function
    gradient,  ///< a leaf's gradient that was there before
    captured,  ///< a tensor that was there before, such as a parameter
    constant,  ///< a tensor that the function made from numbers of the host
    numbers,   ///< changing numbers, filled before each replay
    result,    ///< made by a step, for other steps alone
    output     ///< made by a step; the caller gets it, too
  } kind = Kind::result;
  IntrusivePtr<Storage> storage;  ///< real where the buffer is fixed, else symbolic or none
  int number = 0;                 ///< of the input, the gradient, the numbers or the output
  size_t bytes = 0;
  Device device;
  bool holds_ones = false;  ///< is made to hold ones: what backward() starts from

  /// Whether it is the same memory in every call.
  bool is_fixed() const { return kind == Kind::captured || kind == Kind::constant; }
};

/// A strided view of a buffer.
struct GraphValue {
  int buffer = 0;
  int64_t offset = 0;  ///< in elements
  TensorSpec spec;
  /// In a loop over pieces of a batch (PieceLoop): bytes from where it lies in one piece to where it lies in
  /// the next.
  size_t piece = 0;
};

/// Steps are numbered in the order in which they run, values and buffers in the order in which they were met:
/// what a pass adds comes last. Who makes, reads and writes a buffer is known at any time; questions about a
/// value are about its buffer, whatever view of it a step has.
class StepGraph {
 public:
  size_t size() const { return order_.size(); }
  const Step& operator[](size_t at) const { return steps_[order_[at]]; }
  void add(Step step) { insert(size(), std::move(step)); }
  void replace(size_t at, Step step);
  void insert(size_t before, Step step);
  void erase(size_t at);
  /// The step `from` becomes the step `to`; those between make room.
  void move(size_t from, size_t to);

  int add_buffer(GraphBuffer buffer);
  int add_value(GraphValue value);
  /// The same memory as a row-major tensor of another shape with as many elements.
  int reshaped(int value, const Shape& shape);
  /// The caller gets the value's buffer: a result becomes the next output.
  void hand_out(int value);
  void set_spec(int value, const TensorSpec& spec) { values_[size_t(value)].spec = spec; }
  void set_bytes(int buffer, size_t bytes) { buffers_[size_t(buffer)].bytes = bytes; }
  /// Its buffer is made to hold ones.
  void set_ones(int value) { buffers_[size_t(buffer_of(value))].holds_ones = true; }
  int outputs() const { return outputs_; }

  const std::vector<GraphBuffer>& buffers() const { return buffers_; }
  const std::vector<GraphValue>& values() const { return values_; }
  const GraphBuffer& memory_of(int value) const { return buffers_[size_t(buffer_of(value))]; }
  const TensorSpec& spec(int value) const { return values_[size_t(value)].spec; }
  /// The memory that a value lies in, by number, and where in it, in elements.
  int buffer_of(int value) const { return values_[size_t(value)].buffer; }
  int64_t offset_of(int value) const { return values_[size_t(value)].offset; }
  Device device_of(int value) const { return memory_of(value).device; }
  /// Whether both hold the same elements in the same order, row-major.
  bool same_elements(int a, int b) const;

  /// Whether the value holds ones, and no step but the one that makes them writes there.
  bool is_ones(int value) const;
  /// Whether the caller, too, has the value's buffer: an argument, a result, a captured tensor.
  bool is_outside(int value) const { return memory_of(value).kind != GraphBuffer::Kind::result; }
  /// How often steps, and the caller, mention the value's buffer.
  int mentions(int value) const;
  /// The first step before `end` that makes the value's buffer; -1 when there is none.
  int64_t maker_of(int value, size_t end) const;
  /// The steps that read the value's buffer, once for each operand.
  std::vector<size_t> readers(int value) const;
  /// Steps after `maker` that read its output 0, once for each time; none where it is used otherwise.
  std::vector<size_t> readers_of(size_t maker) const;
  /// The step that reads output 0 of `maker`, once or several times, while nobody else mentions it; -1 when
  /// there is none.
  int64_t sole_reader_of(size_t maker) const;
  /// Whether a step in [begin, end) writes into the buffer of one of `values` in place.
  bool writes_between(size_t begin, size_t end, const std::vector<int>& values) const;
  /// The last step before `end` that makes or writes the value's buffer, and the last that mentions it; -1
  /// when there is none.
  int64_t last_write(int value, size_t end) const;
  int64_t last_mention(int value, size_t end) const;

 private:
  /// Steps of a buffer by their places in steps_, once for each operand.
  struct Uses {
    std::vector<size_t> makers, readers, writers;
  };

  const Uses& uses_of(int value) const { return uses_[size_t(buffer_of(value))]; }
  template <class Change>
  void change_uses(size_t id, Change change);
  void link(size_t id);
  void unlink(size_t id);
  void number_from(size_t first, size_t end);
  int64_t last_of(const std::vector<size_t>& ids, size_t end) const;

  std::vector<GraphBuffer> buffers_;
  std::vector<GraphValue> values_;
  std::vector<Uses> uses_;  ///< by buffer
  int outputs_ = 0;
  std::deque<Step> steps_;         ///< in the order in which they were added; erased ones are empty
  std::vector<size_t> order_;      ///< places in steps_
  std::vector<size_t> positions_;  ///< the inverse
};

/// The values that a step writes in place.
std::vector<int> mutated_values(const Step& step);

/// Whether the user wants to see a variant of this op run: it is not fused away.
bool is_pinned(const Op& op);

/// Whether both calls of an op have the same options.
bool same_options(const Step& a, const Step& b);

/// Whether elements follow each other row-major without gaps.
bool is_row_major(const TensorSpec& spec);

}  // namespace treadle
