/// The op contract: what every variant of every op must keep, and the tally of what was checked.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "treadle/graph/op.h"

namespace treadle::contract {

/// Counts checks and keeps the messages of those that failed.
class Tally {
 public:
  void passed(const std::string& kind, Device device) { ++counts_[{kind, to_string(device)}]; }
  void failed(const std::string& message);
  bool ok() const { return failures_ == 0; }
  int failures() const { return failures_; }
  /// One line for each kind and device, and the totals.
  void print() const;
  int64_t total() const;
  void count_variant(const std::string& name) { ++variants_[name]; }
  const std::map<std::string, int>& variants() const { return variants_; }

 private:
  std::map<std::pair<std::string, std::string>, int64_t> counts_;
  std::map<std::string, int> variants_;
  int failures_ = 0;
};

/// One case with one dtype: its name in messages, and the rounded inputs.
struct Trial {
  const Op& op;
  const TestCase& test_case;
  DType dtype;
  std::vector<ReferenceTensor> inputs;
  std::vector<DType> input_dtypes;
  /// The reference's outputs, and what errors are measured by.
  std::vector<ReferenceTensor> expected, scale;
  double terms = 0;

  std::string name() const;
  std::vector<Tensor> tensors(Device device) const;
};

Trial make_trial(const Op& op, const TestCase& test_case, DType dtype);

/// Every variant on `device` against the reference: shape, values, guard zones, inputs untouched, two runs
/// bit-equal.
void check_forward(const Trial& trial, Device device, Tally& tally);

/// The op's gradient, run in f64 on the cpu, against finite differences of the reference.
void check_finite_differences(const Op& op, const TestCase& test_case, Tally& tally);

/// The gradient on a device in a dtype against the f64 gradient on the cpu.
void check_gradient(const Trial& trial, Device device, Tally& tally);

/// The op in a compiled function against its eager call, bit by bit; on devices with graphs in a graph.
void check_compiled(const Trial& trial, Device device, Tally& tally);

/// Largest relative error of one rounding: 2^-24 for f32.
double unit_roundoff(DType dtype);

}  // namespace treadle::contract
