/// Op: everything that is declared about an operation, once. Tests, docs and the program derive the rest from
/// it. Heavy: for declarations, and for who reads them; variants and calls need the lighter headers.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "treadle/core/tensor.h"
#include "treadle/graph/apply.h"
#include "treadle/graph/autocast.h"
#include "treadle/graph/composition.h"
#include "treadle/graph/options.h"
#include "treadle/graph/rows.h"
#include "treadle/graph/spec.h"
#include "treadle/graph/test_case.h"
#include "treadle/graph/variant.h"

namespace treadle {

/// What a gradient may see of the call it belongs to.
class GradientContext {
 public:
  virtual const Attributes& attributes() const = 0;
  /// A saved input; the op's `saves` must name it. Throws AutogradError when it was modified since.
  virtual Tensor input(int i) const = 0;
  /// A saved output.
  virtual Tensor output(int i) const = 0;
  /// The gradient that arrived for output i; undefined means zero.
  virtual Tensor upstream(int i = 0) const = 0;
  /// Whether input i needs a gradient; work for others can be left out.
  virtual bool needs(int i) const = 0;
  /// Not `defined` where input i was left out.
  virtual const TensorSpec& input_spec(int i) const = 0;
  virtual const TensorSpec& output_spec(int i = 0) const = 0;
  template <class Options>
  const Options& options() const {
    return attributes().as<Options>();
  }

 protected:
  ~GradientContext() = default;
};

/// What a node keeps for its gradient: input or output number `index`.
struct Saved {
  enum Kind { input, output } kind;
  int index;
};

/// Numbers of two operands: elements of `gradient` count only where `mask` is open.
struct MaskedInput {
  int gradient = -1, mask = -1;
};

struct Op {
  std::string name;
  /// Equation and shapes, one line.
  std::string summary;
  const OptionsSchema* options = nullptr;
  /// What input `dtype_operand` may hold; tests run the op once for each.
  DTypeSet dtypes = kFloating;
  int dtype_operand = 0;
  /// What an Autocast scope does with the operands. Ops with `low` have the variant "widened" on the cpu.
  AutocastPolicy autocast = AutocastPolicy::none;
  /// Operands that may be undefined, by number; of all others a call says so when one is.
  std::vector<int> optional = {};
  /// Shapes, layouts and dtypes of the outputs. Throws ShapeError, DTypeError.
  std::function<std::vector<TensorSpec>(Specs inputs, const Attributes& attributes)> infer = {};
  /// Plain loops in double, for tests.
  std::function<std::vector<ReferenceTensor>(ReferenceInputs inputs, const Attributes& attributes)>
      reference = {};
  /// The operands whose rows make the rows of the outputs; without it, a call on a batch is not cut.
  RowOperands rows = {};
  /// Outputs, by number, that are not made of rows but are sums over those of these operands.
  std::vector<int> sums = {};
  /// Gradients of the inputs, in terms of other ops; undefined where `needs` is false or the gradient is
  /// zero.
  std::function<std::vector<Tensor>(const GradientContext& context)> gradient = {};
  std::vector<Saved> saves = {};
  /// Whether the gradient is made of ops that have none.
  bool once_differentiable = false;
  /// Outputs that carry no gradient (indices), by number.
  std::vector<int> not_differentiable = {};
  /// For views and transfers: makes the outputs itself; such an op has no variants.
  std::function<std::vector<Tensor>(std::span<const Tensor> inputs, const Attributes& attributes)> direct =
      {};
  /// The op in terms of others: the variant "composed" of every device, and all that an op needs to run.
  Compose compose = {};
  /// For updates in place: output j is input mutates[j].
  std::vector<int> mutates = {};
  /// For updates of many tensors at once: the operands from `group_begin` on repeat in groups of
  /// `group_size`, and `mutates` counts within each group.
  int group_begin = 0, group_size = 0;
  std::function<std::vector<TestCase>()> cases = {};
  /// What the op refuses: the worst values of its options, and operands that do not fit. Dtypes that `dtypes`
  /// leaves out need no mention.
  std::function<std::vector<RefusedCall>()> refused_calls = {};
  std::function<ErrorModel(Specs inputs, const Attributes& attributes)> error = {};
  /// For outputs of integers that near ties may change (positions of maxima): whether `value`, which differs
  /// from the reference, is right at an element of output k when real results may be off by `allowed`, the
  /// error allowed at that element of output 0. Without it only the reference's value is right.
  std::function<bool(ReferenceInputs inputs, const Attributes& attributes, int k, int64_t element,
                     double value, double allowed)>
      accepts = {};
  /// Floating-point operations of one call, evaluated densely: a product with its sum is two, any other
  /// function of an element one or what its formula needs; 0 for what only moves elements. All ops but the
  /// direct ones say so.
  std::function<double(const Call& call)> operations = {};
  /// What `bench op` times on a device; without it, the largest test case.
  std::function<std::vector<BenchCase>(DeviceKind device)> bench_cases = {};
  /// Whether no element of output 0 is negative, as after ReLU; NaN may be among them.
  std::function<bool(const Attributes& attributes)> never_negative = {};
  /// The output, by number, that marks for a gradient where output 0 is 0: nothing flows back there. -1:
  /// none.
  std::function<int(const Attributes& attributes)> closed_output = {};
  /// For gradients of such an op: what they get and the marks they drop it by.
  MaskedInput masked = {};
  /// Whether the result lies on another device than the operand.
  bool changes_device = false;
  std::vector<Variant> variants = {};
};

}  // namespace treadle
