#include <cmath>

#include "treadle/core/error.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/layout/declaration/convert.h"
#include "treadle/ops/norm/batch_norm.h"
#include "treadle/ops/pointwise/pointwise.h"

namespace treadle {
namespace {

enum Operand { kRunningMean, kRunningVariance, kBatches, kMean, kVariance };
const char* const kName = "batch_statistics";

std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  const auto& options = attributes.as<BatchStatisticsOptions>();
  require<ValueError>(options.momentum >= 0 && options.momentum <= 1, "{}: momentum {} is not in [0, 1]",
                      kName, options.momentum);
  require<ValueError>(options.count >= 2, "{}: a variance needs two elements of each channel, not {}", kName,
                      options.count);
  const TensorSpec &running = inputs[kRunningMean], &batches = inputs[kBatches];
  require<ShapeError>(running.shape.rank() == 1, "{}: running_mean has shape {}, expected [C]", kName,
                      running.shape);
  require<ShapeError>(batches.shape.numel() == 1, "{}: batches has shape {}, expected one element", kName,
                      batches.shape);
  require<DTypeError>(batches.dtype == DType::i64, "{}: batches is {}, expected i64", kName,
                      name_of(batches.dtype));
  const char* const names[] = {"running_mean", "running_variance", "batches", "mean", "variance"};
  for (size_t i : {kRunningVariance, kMean, kVariance}) {
    require<ShapeError>(inputs[i].shape == running.shape, "{}: {} has shape {}, running_mean {}", kName,
                        names[i], inputs[i].shape, running.shape);
    require<DTypeError>(inputs[i].dtype == running.dtype, "{}: {} is {}, running_mean {}", kName, names[i],
                        name_of(inputs[i].dtype), name_of(running.dtype));
  }
  return {running, inputs[kRunningVariance], batches};
}

double unbiased(int64_t count) { return double(count) / double(count - 1); }

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  const auto& options = attributes.as<BatchStatisticsOptions>();
  ReferenceTensor mean = inputs[kRunningMean], variance = inputs[kRunningVariance],
                  batches = inputs[kBatches];
  batches.values[0] += 1;
  const double share = options.cumulative ? 1 / batches.values[0] : options.momentum;
  for (size_t c = 0; c < mean.values.size(); ++c) {
    const double found = inputs[kVariance].values[c] * unbiased(options.count);
    mean.values[c] = (1 - share) * mean.values[c] + share * inputs[kMean].values[c];
    variance.values[c] = (1 - share) * variance.values[c] + share * found;
  }
  return {mean, variance, batches};
}

/// Half types are computed in f32.
class Body {
 public:
  explicit Body(const Composition& call) : call_(call), dtype_(wide_dtype(call.input(kMean).dtype)) {}

  void run() const {
    const auto& options = call_.options<BatchStatisticsOptions>();
    const TensorView& batches = call_.output(kBatches);
    call_.run(add_op(), {batches, number(call_, 1, DType::i64)}, {batches});
    const TensorView share = options.cumulative ? one_of(batches) : number(call_, options.momentum, dtype_);
    move(kRunningMean, row_major(call_, call_.input(kMean), dtype_), share);
    const TensorView found = call_.scratch(call_.input(kVariance).shape, dtype_);
    convert(call_, call_.input(kVariance), found);
    call_.run(mul_op(), {found, number(call_, unbiased(options.count), dtype_)}, {found});
    move(kRunningVariance, found, share);
  }

 private:
  /// 1 / batches.
  TensorView one_of(const TensorView& batches) const {
    const TensorView count = call_.scratch(batches.shape, dtype_);
    convert(call_, batches, count);
    call_.run(div_op(), {number(call_, 1, dtype_), count}, {count});
    return count;
  }
  /// running += share·(found - running).
  void move(int running, const TensorView& found, const TensorView& share) const {
    const TensorView now = row_major(call_, call_.output(running), dtype_),
                     step = call_.scratch(now.shape, dtype_);
    call_.run(sub_op(), {found, now}, {step});
    call_.run(mul_op(), {step, share}, {step});
    call_.run(add_op(), {step, now}, {step});
    convert(call_, step, call_.output(running));
  }

  const Composition& call_;
  DType dtype_;
};

std::vector<TestCase> cases() {
  auto one = [](const char* label, int64_t C, const BatchStatisticsOptions& options,
                TestLayout layout = TestLayout::contiguous, const Shape& batches = {}) {
    const TestInput of_channels{{C}, {TestFill::uniform, -2, 2}, layout};
    return TestCase{label,
                    {of_channels,
                     of_channels,
                     {batches, {TestFill::integers, 0, 9}, layout, {DType::i64}},
                     of_channels,
                     of_channels},
                    Attributes::of(options)};
  };
  return {one("momentum", 7, {0.1, false, 50}),
          one("two elements", 7, {0.25, false, 2}),
          one("no momentum", 5, {0, false, 9}),
          one("the batch alone", 5, {1, false, 9}),
          one("cumulative", 19, {0.1, true, 33}),
          one("an axis of one", 3, {0.1, true, 33}, TestLayout::contiguous, {1}),
          one("sliced", 6, {0.1, false, 50}, TestLayout::sliced),
          one("no channels", 0, {0.1, false, 50})};
}

std::vector<RefusedCall> refused_calls() {
  const TestInput c{{6}}, two{{2}}, image{{2, 3}}, exact{.shape = {6}, .dtype = {DType::f64}};
  const TestInput batches{.shape = {}, .dtype = {DType::i64}}, several{.shape = {3}, .dtype = {DType::i64}};
  auto with = [](double momentum, int64_t count) {
    return Attributes::of(BatchStatisticsOptions{momentum, false, count});
  };
  const Attributes fine = with(0.1, 9);
  return {refuses<ValueError>({c, c, batches, c, c}, {"momentum -0.5"}, with(-0.5, 9)),
          refuses<ValueError>({c, c, batches, c, c}, {"momentum 1.5"}, with(1.5, 9)),
          refuses<ValueError>({c, c, batches, c, c}, {"momentum nan"}, with(NAN, 9)),
          refuses<ValueError>({c, c, batches, c, c}, {"two elements", "not 1"}, with(0.1, 1)),
          refuses<ShapeError>({image, c, batches, c, c}, {"running_mean", "[2, 3]"}, fine),
          refuses<ShapeError>({c, two, batches, c, c}, {"running_variance has shape [2]", "[6]"}, fine),
          refuses<ShapeError>({c, c, several, c, c}, {"batches has shape [3]"}, fine),
          refuses<ShapeError>({c, c, batches, two, c}, {"mean has shape [2]", "[6]"}, fine),
          refuses<ShapeError>({c, c, batches, c, two}, {"variance has shape [2]", "[6]"}, fine),
          refuses<DTypeError>({c, c, {{}}, c, c}, {"batches is f32", "i64"}, fine),
          refuses<DTypeError>({c, c, batches, exact, c}, {"mean is f64", "f32"}, fine)};
}

ErrorModel error(Specs, const Attributes&) { return {ErrorModel::largest_input, 16}; }

}  // namespace

namespace ops {

void register_batch_statistics(Registry& registry) {
  registry.add({.name = kName,
                .summary = "running mean and variance moved towards those of a batch, batches += 1, in place",
                .options = &schema_of<BatchStatisticsOptions>(),
                .autocast = AutocastPolicy::full,
                .infer = infer,
                .reference = reference,
                .compose = [](const Composition& call) { Body(call).run(); },
                .mutates = {kRunningMean, kRunningVariance, kBatches},
                .cases = cases,
                .refused_calls = refused_calls,
                .error = error,
                .operations = for_each_output(3)});
}

}  // namespace ops

void update_batch_statistics(const Tensor& running_mean, const Tensor& running_variance,
                             const Tensor& batches, const Tensor& mean, const Tensor& variance,
                             const BatchStatisticsOptions& options) {
  static const Op& op = op_named(kName);
  apply_in_place(op, {running_mean, running_variance, batches, mean, variance}, Attributes::of(options));
}

}  // namespace treadle
