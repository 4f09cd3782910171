/// The op contract: what every variant of every op must keep, and the tally of what was checked.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/contract/test_tensor.h"
#include "treadle/graph/op.h"

namespace treadle::contract {

// For who looks on (tests/checked): what else has failed since it was asked last; and each run of a variant.
extern int (*failures_seen_elsewhere)(bool at_end);
extern void (*variant_has_run)(const Op& op, const Variant& variant);

/// Counts checks and keeps the messages of those that failed.
class Tally {
 public:
  /// `once`: calls are not repeated to compare their results. `forward_only`: nothing else is checked.
  /// `variants`: the names of those that run; none: all.
  explicit Tally(bool once = false, bool forward_only = false, std::vector<std::string> variants = {})
      : once_(once), forward_only_(forward_only), wanted_variants_(std::move(variants)) {}
  bool wants(const Variant& variant) const {
    const auto& names = wanted_variants_;
    return names.empty() || std::find(names.begin(), names.end(), variant.name) != names.end();
  }
  bool once() const { return once_; }
  bool forward_only() const { return forward_only_; }
  void passed(const std::string& kind, Device device) { ++counts_[{kind, to_string(device)}]; }
  void failed(const std::string& message);
  bool ok() const { return failures_ == 0; }
  int failures() const { return failures_; }
  /// One line for each kind and device, and the totals.
  void print() const;
  int64_t total() const;
  /// The first failure ends the process, with exit code 1.
  void stop_at_first() { stop_ = true; }
  void variant_ran(const Op& op, const Variant& variant);
  void count_variant(const std::string& name) { ++variants_[name]; }
  const std::map<std::string, int>& variants() const { return variants_; }

 private:
  [[noreturn]] void end_now();

  bool once_, forward_only_, stop_ = false;
  std::vector<std::string> wanted_variants_;
  std::map<std::pair<std::string, std::string>, int64_t> counts_;
  std::map<std::string, int> variants_;
  int failures_ = 0;
};

/// The layout of each input, and that of upstream gradients.
struct Layouts {
  std::vector<Layout> inputs;
  Layout upstream = Layout::contiguous;
};

/// One case with one dtype: its name in messages, and the rounded inputs.
struct Trial {
  const Op& op;
  const TestCase& test_case;
  DType dtype;
  Layouts layouts;
  std::vector<ReferenceTensor> inputs;
  std::vector<DType> input_dtypes;
  /// The reference's outputs, and what errors are measured by.
  std::vector<ReferenceTensor> expected, scale;
  ErrorModel error;
  bool exact() const { return error.scale == ErrorModel::exact; }
  /// The same with zeros for inputs that a device may flush; null where there are none.
  std::shared_ptr<const Trial> flushed;

  std::string name() const;
  std::vector<Tensor> tensors(Device device) const;
};

Trial make_trial(const Op& op, const TestCase& test_case, DType dtype, const Layouts& layouts);

/// The same without what the reference makes of the inputs.
Trial fill_trial(const Op& op, const TestCase& test_case, DType dtype, const Layouts& layouts);

/// As the case declares them.
Layouts declared_layouts(const TestCase& test_case);

/// A case that follows from a declared one.
struct DerivedCase {
  TestCase test_case;
  Layouts layouts;
};

/// The operands of a case in every layout, and with extents of 1 and 0 wherever the op takes them: what a
/// variant makes of an operand's layout must be right where the strides leave it open.
std::vector<DerivedCase> derived_cases(const Op& op, const TestCase& declared, DType dtype);

/// Every variant on `device` against the reference: shape, values, guard zones, inputs untouched, two runs
/// bit-equal.
void check_forward(const Trial& trial, Device device, Tally& tally);

/// The op's gradient, run in f64 on the cpu, against finite differences of the reference.
void check_finite_differences(const Op& op, const TestCase& test_case, Tally& tally);

/// The derivatives of the op's gradient along its inputs and its upstream gradients, in f64 on the cpu,
/// against finite differences of the gradient; of ops that declare to be differentiable once, that they say
/// so.
void check_second_derivatives(const Op& op, const TestCase& test_case, Tally& tally);

/// The gradient on a device in a dtype against the f64 gradient of row-major operands on the cpu.
void check_gradient(const Trial& trial, Device device, Tally& tally);

/// The op in a compiled function against its eager call, bit by bit; on devices with graphs in a graph.
void check_compiled(const Trial& trial, Device device, Tally& tally);

/// A value out of range in each input of labels or indices: every variant on `device` refuses it as the cpu
/// does, with the same words, or takes it as the cpu does; so do an eager and a compiled call, and both work
/// afterwards.
void check_mistakes(const Trial& trial, Device device, Tally& tally);

/// The rows that the op says its outputs' rows follow from (Op::rows), by its reference.
void check_rows(const Trial& trial, Tally& tally);

/// The calls that the op declares as refused, on `device`, eager and compiled.
void check_refused_calls(const Op& op, Device device, Tally& tally);

/// Calls the op with a trial's inputs on a device; updates in place work on copies, which are returned.
class OneCall {
 public:
  OneCall(const Trial& trial, const std::vector<Tensor>& inputs);
  /// `given` are the inputs that are defined.
  std::vector<Tensor> operator()(std::span<const Tensor> given) const;
  static std::vector<Tensor> defined(const std::vector<Tensor>& inputs);

 private:
  const Trial& trial_;
  std::vector<bool> defined_;
};

/// Whether the tensors hold the same bits, or the message that says which does not.
std::string differences(const std::vector<Tensor>& wanted, const std::vector<Tensor>& got);

/// Runs a variant on fresh inputs and outputs and waits for the device.
void run_variant(const Trial& trial, const Variant& variant, Device device);

/// The variants on `device` that take the trial's call; none for views.
std::vector<const Variant*> variants_for(const Trial& trial, Device device);

/// Largest relative error of one rounding: 2^-24 for f32.
double unit_roundoff(DType dtype);

}  // namespace treadle::contract
