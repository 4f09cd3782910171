/// StepGraph: the steps of a function, gradients included, as a fusion looks at them and changes them.
#pragma once

#include <string>
#include <vector>

#include "treadle/graph/step.h"

namespace treadle {

/// Steps are numbered in the order in which they run, values in the order in which they were met: what a
/// fusion adds comes last.
class StepGraph {
 public:
  virtual ~StepGraph() = default;

  virtual size_t size() const = 0;
  virtual const Step& operator[](size_t at) const = 0;
  virtual void replace(size_t at, Step step) = 0;
  virtual void insert(size_t before, Step step) = 0;
  virtual void erase(size_t at) = 0;

  virtual const TensorSpec& spec(int value) const = 0;
  /// The memory that a value lies in, by number, and where in it, in elements.
  virtual int buffer_of(int value) const = 0;
  virtual int64_t offset_of(int value) const = 0;
  virtual Device device_of(int value) const = 0;
  /// Whether the value holds ones, and no step but the one that makes them writes there.
  virtual bool is_ones(int value) const = 0;
  /// Whether the caller, too, has the value's buffer: an argument, a result, a captured tensor.
  virtual bool is_outside(int value) const = 0;
  /// The same memory as a row-major tensor of another shape with as many elements.
  virtual int reshaped(int value, const Shape& shape) = 0;

  /// How often steps, and the caller, mention the value's buffer.
  int mentions(int value) const;
  /// Whether a step in [begin, end) writes into the buffer of one of `values` in place.
  bool writes_between(size_t begin, size_t end, const std::vector<int>& values) const;
  /// Whether both hold the same elements in the same order, row-major.
  bool same_elements(int a, int b) const;
  /// The step before `end` that makes the value's buffer; -1 when there is none.
  int64_t maker_of(int value, size_t end) const;
  /// Steps after `maker` that read its output 0, once for each time; none where it is used otherwise.
  std::vector<size_t> readers_of(size_t maker) const;
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
