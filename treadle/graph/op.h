/// Op: everything that is declared about an operation, once. Tests, docs and the program derive the rest from
/// it.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "treadle/core/tensor.h"
#include "treadle/graph/options.h"
#include "treadle/graph/variant.h"

namespace treadle {

/// Shape, layout and dtype of an operand; `defined` is false for one that was left out.
struct TensorSpec {
  Shape shape;
  Strides strides;
  DType dtype = DType::f32;
  bool defined = true;

  /// Row-major.
  static TensorSpec of(const Shape& shape, DType dtype) {
    return {shape, contiguous_strides(shape), dtype, true};
  }
  static TensorSpec of(const Tensor& tensor) {
    if (!tensor.defined()) return {{}, {}, DType::f32, false};
    return {tensor.shape(), tensor.strides(), tensor.dtype(), true};
  }
};

/// The operands of a call, in order.
class Specs : public std::span<const TensorSpec> {
 public:
  using std::span<const TensorSpec>::span;
  Specs(std::span<const TensorSpec> specs) : span(specs) {}
  /// Throws ValueError when the call has no operand i.
  const TensorSpec& operator[](size_t i) const {
    if (i >= size()) [[unlikely]]
      throw_missing(i);
    return span::operator[](i);
  }

 private:
  [[noreturn]] TREADLE_API static void throw_missing(size_t i);
};

/// A set of dtypes.
class DTypeSet {
 public:
  constexpr DTypeSet(std::initializer_list<DType> dtypes) {
    for (DType dtype : dtypes) bits_ |= 1u << int(dtype);
  }
  constexpr bool contains(DType dtype) const { return bits_ >> int(dtype) & 1u; }

 private:
  uint32_t bits_ = 0;
};
inline constexpr DTypeSet kFloating{DType::f32, DType::f64, DType::f16, DType::bf16};
inline constexpr DTypeSet kNumeric{DType::f32, DType::f64, DType::f16, DType::bf16, DType::i8,
                                   DType::u8,  DType::i16, DType::i32, DType::i64};
inline constexpr DTypeSet kEveryDType{DType::f32, DType::f64, DType::f16, DType::bf16, DType::i8,
                                      DType::u8,  DType::i16, DType::i32, DType::i64,  DType::boolean};

/// A row-major array of doubles: what references compute on.
struct ReferenceTensor {
  Shape shape;
  std::vector<double> values;
  bool defined = true;

  static ReferenceTensor zeros(const Shape& shape) {
    return {shape, std::vector<double>(size_t(shape.numel()))};
  }
};
using ReferenceInputs = std::span<const ReferenceTensor>;

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

/// How a test fills an input.
struct TestFill {
  enum Kind {
    apart,  ///< distinct values spread over [low, high], in seeded random order, never a multiple of the step
    uniform,        ///< seeded uniform in [low, high)
    integers,       ///< seeded integers in [low, high]
    constant,       ///< low
    with_nan,       ///< as uniform, with a few NaN
    with_infinity,  ///< as uniform, with a few infinities of both signs
    with_subnormal  ///< as uniform, some below the smallest normal number of the dtype
  } kind = apart;
  double low = -2, high = 2;
};

/// How a test lays an input out in memory.
enum class TestLayout : uint8_t { contiguous, channels_last, transposed, sliced, expanded };

struct TestInput {
  Shape shape;
  TestFill fill = {};
  TestLayout layout = TestLayout::contiguous;
  /// A fixed dtype (labels, conditions); others take the dtype under test.
  std::vector<DType> dtype = {};
  bool defined = true;
  /// Whether finite differences are taken along it.
  bool differentiable = true;
};

struct TestCase {
  std::string label;
  std::vector<TestInput> inputs;
  Attributes attributes = {};
};

/// A call of a size that matters in practice: what benches time.
struct BenchCase {
  std::string label;
  std::vector<Shape> inputs;
  Attributes attributes = {};
  /// Whether images, but not filters, lie channels-last.
  bool channels_last = false;
};

/// How rounding errors of a variant are bounded against the reference. Where subnormal numbers are flushed,
/// each rounding may be off by the smallest normal number too, and a subnormal input counts as any number
/// between itself and zero.
struct ErrorModel {
  enum Scale {
    result,           ///< |result|
    absolute_inputs,  ///< the reference on the inputs' absolute values: sums of products
    largest_input,    ///< the largest |input| (cancellation inside a formula)
    exact             ///< none: the reference rounds as the variants do
  } scale = result;
  /// Roundings per result: the length of its sum, or the ulps of its formula.
  double terms = 2;
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
  /// Operands that may be undefined, by number; of all others a call says so when one is.
  std::vector<int> optional = {};
  /// Shapes, layouts and dtypes of the outputs. Throws ShapeError, DTypeError.
  std::vector<TensorSpec> (*infer)(Specs inputs, const Attributes& attributes) = nullptr;
  /// Plain loops in double, for tests.
  std::vector<ReferenceTensor> (*reference)(ReferenceInputs inputs, const Attributes& attributes) = nullptr;
  /// Gradients of the inputs, in terms of other ops; undefined where `needs` is false or the gradient is
  /// zero.
  std::vector<Tensor> (*gradient)(const GradientContext& context) = nullptr;
  std::vector<Saved> saves = {};
  /// Outputs that carry no gradient (indices), by number.
  std::vector<int> not_differentiable = {};
  /// For views and transfers: makes the outputs itself; such an op has no variants.
  std::vector<Tensor> (*direct)(std::span<const Tensor> inputs, const Attributes& attributes) = nullptr;
  /// For updates in place: output j is input mutates[j].
  std::vector<int> mutates = {};
  /// For updates of many tensors at once: the operands from `group_begin` on repeat in groups of
  /// `group_size`, and `mutates` counts within each group.
  int group_begin = 0, group_size = 0;
  std::vector<TestCase> (*cases)() = nullptr;
  ErrorModel (*error)(Specs inputs, const Attributes& attributes) = nullptr;
  /// For outputs of integers that near ties may change (positions of maxima): whether `value`, which differs
  /// from the reference, is right at an element of output k when real results may be off by `allowed`, the
  /// error allowed at that element of output 0. Null: only the reference's value is right.
  bool (*accepts)(ReferenceInputs inputs, const Attributes& attributes, int k, int64_t element, double value,
                  double allowed) = nullptr;
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

/// Runs an op: checks the operands, infers the outputs, picks a variant, runs it, and leaves a node when a
/// gradient is required. The one call below every typed function. Throws ValueError for an operand that is
/// undefined or missing, DeviceError for operands on two devices, DTypeError, and what the op's infer throws.
TREADLE_API std::vector<Tensor> apply(const Op& op, std::vector<Tensor> inputs,
                                      const Attributes& attributes = {});

/// The same for an op that updates inputs in place; raises their version. Throws ValueError, too, where an
/// updated input may hold an element twice, as an expanded one does.
TREADLE_API void apply_in_place(const Op& op, std::vector<Tensor> inputs, const Attributes& attributes = {});

/// The inputs that an update in place overwrites, when it is given `input_count` of them.
TREADLE_API std::vector<int> mutated_inputs(const Op& op, int input_count);

/// Throws DTypeError unless all defined operands have the first one's dtype.
TREADLE_API void require_same_dtype(const char* op, Specs inputs);

}  // namespace treadle
