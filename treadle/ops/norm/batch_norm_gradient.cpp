#include "treadle/ops/norm/batch_norm_gradient.h"

#include <cmath>

#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/norm/channel_steps.h"
#include "treadle/ops/norm/declaration/batch_norm_cases.h"
#include "treadle/ops/norm/normalized_rows.h"
#include "treadle/ops/pointwise/pointwise_layout.h"
#include "treadle/ops/pointwise/relu_gradient.h"

namespace treadle {
namespace {

enum Operand { kDy, kX, kMean, kVariance, kW, kY, kB };
const char* const kName = "batch_norm_gradient";

bool has(Specs inputs, size_t i) { return i < inputs.size() && inputs[i].defined; }

void require_statistics(Specs inputs, size_t i, const char* name, const Shape& x) {
  require_of_channels(kName, name, inputs, i, x);
  const DType expected = wide_dtype(inputs[kX].dtype);
  require<DTypeError>(inputs[i].dtype == expected, "{}: {} is {}, x of {} expects {}", kName, name,
                      name_of(inputs[i].dtype), name_of(inputs[kX].dtype), name_of(expected));
}

void require_like_x(Specs inputs, size_t i, const char* name) {
  if (!has(inputs, i)) return;
  require<DTypeError>(inputs[i].dtype == inputs[kX].dtype, "{}: {} is {}, x {}", kName, name,
                      name_of(inputs[i].dtype), name_of(inputs[kX].dtype));
  if (i != kW && i != kB)
    require<ShapeError>(inputs[i].shape == inputs[kX].shape, "{}: {} has shape {}, x {}", kName, name,
                        inputs[i].shape, inputs[kX].shape);
}

/// dx, dw, db; dz where it is more than dy; Σ dx.
std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  const auto& options = attributes.as<BatchNormGradientOptions>();
  require_epsilon(kName, options.epsilon);
  const TensorSpec& x = inputs[kX];
  require_channels(kName, x.shape);
  require_statistics(inputs, kMean, "mean", x.shape);
  require_statistics(inputs, kVariance, "variance", x.shape);
  require_of_channels(kName, "w", inputs, kW, x.shape);
  require_like_x(inputs, kDy, "dy");
  require_like_x(inputs, kW, "w");
  require_like_x(inputs, kY, "y");
  require_of_channels(kName, "b", inputs, kB, x.shape);
  require_like_x(inputs, kB, "b");
  require<ValueError>(!options.relu || !has(inputs, kY), "{}: y is given, and found anew for the option relu",
                      kName);
  require<ValueError>(options.relu || !has(inputs, kB), "{}: b is given without the option relu", kName);
  const TensorSpec dx = pointwise_output(kName, inputs.subspan(kX, 1), x.dtype),
                   dw = TensorSpec::of({x.shape[1]}, x.dtype);
  std::vector<TensorSpec> outputs{dx, dw, dw};
  const BatchNormGradientPlaces places(options, has(inputs, kY));
  if (places.dz) outputs.push_back(dx);
  if (places.sum) outputs.push_back(dw);
  return outputs;
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  const auto& options = attributes.as<BatchNormGradientOptions>();
  const ReferenceTensor &x = inputs[kX], &mean = inputs[kMean], &variance = inputs[kVariance];
  const bool given = inputs.size() > kY && inputs[kY].defined;
  ReferenceTensor dz = inputs[kDy], dx = x, dw = ReferenceTensor::zeros({x.shape[1]}), db = dw;
  const double count = double(x.shape[0] * places_of(x.shape));
  auto deviation = [&](size_t c) { return std::sqrt(variance.values[c] + options.epsilon); };
  for_each_element(x.shape, [&](size_t i, size_t c) {
    dx.values[i] = (x.values[i] - mean.values[c]) / deviation(c);
    const double found = dx.values[i] * value_of(inputs, kW, c, 1) + value_of(inputs, kB, c, 0);
    if (given ? inputs[kY].values[i] <= 0 : options.relu && found <= 0) dz.values[i] = 0;
    dw.values[c] += dz.values[i] * dx.values[i];
    db.values[c] += dz.values[i];
  });
  for_each_element(x.shape, [&](size_t i, size_t c) {
    const double centred = dz.values[i] - db.values[c] / count - dx.values[i] * dw.values[c] / count;
    dx.values[i] = centred / deviation(c) * value_of(inputs, kW, c, 1);
  });
  std::vector<ReferenceTensor> outputs{dx, dw, db};
  const BatchNormGradientPlaces places(options, given);
  if (places.dz) outputs.push_back(dz);
  if (places.sum) {
    outputs.push_back(ReferenceTensor::zeros({x.shape[1]}));
    for_each_element(x.shape, [&](size_t i, size_t c) { outputs.back().values[c] += dx.values[i]; });
  }
  return outputs;
}

/// As the reference, of the operands' wide_dtype().
std::vector<Tensor> formula(const std::vector<Tensor>& operands, const Tensor& given, const Tensor& b,
                            const BatchNormGradientOptions& options) {
  const DType dtype = operands[kX].dtype();
  const Shape &shape = operands[kX].shape(), channels = channels_of(shape);
  auto wide = [&](const Tensor& operand) { return cast(operand, wide_dtype(dtype)); };
  auto along = [&](const Tensor& of_channels) { return reshape(of_channels, channels); };
  const Tensor deviation = along(sqrt(operands[kVariance] + options.epsilon));
  const Tensor n = (wide(operands[kX]) - along(operands[kMean])) / deviation;
  Tensor y = given.defined() ? wide(given) : Tensor();
  if (options.relu) {  // where it is positive does not change with what it is made of
    y = n.detach();
    if (operands[kW].defined()) y = y * along(wide(operands[kW].detach()));
    if (b.defined()) y = y + along(wide(b.detach()));
  }
  const Tensor dz = y.defined() ? relu_gradient(y, wide(operands[kDy])) : wide(operands[kDy]);
  const Dims axes = axes_but_channels(shape);
  const Tensor dw = sum(dz * n, axes), db = sum(dz, axes);
  const double share = 1 / double(shape[0] * places_of(shape));
  Tensor dx = (dz - n * along(dw * share) - along(db * share)) / deviation;
  if (operands[kW].defined()) dx = dx * along(wide(operands[kW]));
  std::vector<Tensor> results{cast(dx, dtype), cast(dw, dtype), cast(db, dtype)};
  const BatchNormGradientPlaces places(options, given.defined());
  if (places.dz) results.push_back(cast(dz, dtype));
  if (places.sum) results.push_back(cast(sum(dx, axes), dtype));
  return results;
}

std::vector<Tensor> gradient(const GradientContext& context) {
  std::vector<Tensor> operands;
  for (int i : {kDy, kX, kMean, kVariance, kW}) operands.push_back(context.input(i));
  return gradient_through(context, operands, [&](const std::vector<Tensor>& x) {
    return formula(x, context.input(kY), context.input(kB), context.options<BatchNormGradientOptions>());
  });
}

void compose(const Composition& call) {
  const auto& options = call.options<BatchNormGradientOptions>();
  const TensorView& x = call.input(kX);
  const ChannelSteps steps(call, x.shape, call.input(kMean).dtype);
  const TensorView dx = steps.exact_target(call.output(0)), dw = steps.exact_target(call.output(1)),
                   db = steps.exact_target(call.output(2));
  const BatchNormGradientPlaces places(options, call.has_input(kY));
  const TensorView n = steps.scratch_like(dx),
                   deviation = steps.deviation(call.input(kVariance), options.epsilon);
  call.run(sub_op(), {steps.exact(kX), steps.along(call.input(kMean))}, {n});
  call.run(div_op(), {n, steps.along(deviation)}, {n});
  TensorView dz = steps.exact(kDy), y = steps.exact(kY);
  if (options.relu) {
    y = n;
    const TensorView made = steps.scratch_like(dx);
    for (const auto& [operand, op] : {std::pair{kW, &mul_op()}, {kB, &add_op()}})
      if (call.has_input(operand)) call.run(*op, {y, steps.along(steps.exact(operand))}, {made}), y = made;
  }
  if (y.defined()) {
    const TensorView open = places.dz ? steps.exact_target(call.output(places.dz)) : steps.scratch_like(dx);
    call.run(relu_gradient_op(), {y, dz}, {open});
    dz = open;
  }
  call.run(mul_op(), {dz, n}, {dx});
  steps.sum(dx, dw);
  steps.sum(dz, db);
  if (dx.numel() > 0) {
    const TensorView share = steps.number(1 / double(x.shape[0] * places_of(x.shape))),
                     of_channels = steps.scratch_of_channels();
    call.run(mul_op(), {dw, share}, {of_channels});
    call.run(mul_op(), {n, steps.along(of_channels)}, {n});
    call.run(sub_op(), {dz, n}, {dx});
    call.run(mul_op(), {db, share}, {of_channels});
    call.run(sub_op(), {dx, steps.along(of_channels)}, {dx});
    call.run(div_op(), {dx, steps.along(deviation)}, {dx});
    if (call.has_input(kW)) call.run(mul_op(), {dx, steps.along(steps.exact(kW))}, {dx});
  }
  if (places.sum) {
    const TensorView of_channels = steps.exact_target(call.output(places.sum));
    steps.sum(dx, of_channels);
    steps.deliver(of_channels, call.output(places.sum));
  }
  steps.deliver(dx, call.output(0));
  steps.deliver(dw, call.output(1));
  steps.deliver(db, call.output(2));
  if (places.dz) steps.deliver(dz, call.output(places.dz));
}

/// f32 beside half types: by number of the dtype.
std::vector<DType> statistics_of_dtypes() {
  std::vector<DType> list;
  for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) list.push_back(wide_dtype(dtype));
  return list;
}

std::vector<TestCase> cases() {
  const BatchNormCases list{
      [](const char* label, const Shape& x, const BatchNormOptions& options, TestLayout layout) {
        TestCase one{label,
                     {{x, {}, layout}, {x, {}, layout}},
                     Attributes::of(BatchNormGradientOptions{options.epsilon})};
        one.inputs.push_back(
            {{x[1]}, {TestFill::uniform, -1, 1}, TestLayout::contiguous, statistics_of_dtypes()});
        one.inputs.push_back(
            {{x[1]}, {TestFill::uniform, 1, 2}, TestLayout::contiguous, statistics_of_dtypes()});
        one.inputs.push_back({{x[1]}});
        one.inputs.push_back({x, {}, layout});
        one.inputs[kY].defined = options.relu;
        one.inputs[kY].differentiable = false;
        one.inputs.push_back({.shape = {x[1]}, .defined = false});
        one.inputs[kB].differentiable = false;
        const bool varies = x.numel() > 0 && std::isfinite(options.epsilon);
        for (int i : {kX, kMean, kVariance, kW}) one.inputs[i].differentiable = varies;
        return one;
      },
      kW, -1, kY};
  // What BatchNormCases calls residual is y here.
  std::vector<TestCase> all = list.all();
  TestCase residual = all[1];
  residual.label = "gradient of the residual";
  residual.attributes = Attributes::of(BatchNormGradientOptions{1e-5, true});
  all.push_back(residual);
  for (const size_t i : {0u, 1u, 4u, 6u}) {
    TestCase sum = all[i];
    sum.attributes = Attributes::of(BatchNormGradientOptions{1e-5, i == 6, true});
    all.push_back(sum);
  }
  all.push_back(list.one("sums over few rows in several parts", {6, 3000}, {}, TestLayout::contiguous));
  all.back().attributes = Attributes::of(BatchNormGradientOptions{1e-5, false, true});
  for (const size_t i : {1u, 5u, 9u, 22u}) {
    TestCase found = all[i];
    found.label += " found anew";
    found.attributes = Attributes::of(BatchNormGradientOptions{1e-5, i == 9, i == 22, true});
    found.inputs[kY].defined = false, found.inputs[kB].defined = true;
    all.insert(all.end() - 5, found);
  }
  const char* const labels[] = {"sum", "sum, ReLU", "sum, channels_last", "sum, dz, channels_last"};
  for (size_t i = 0; i < std::size(labels); ++i) all[all.size() - 5 + i].label = labels[i];
  return all;
}

std::vector<RefusedCall> refused_calls() {
  const std::vector<DType> f32{DType::f32}, f64{DType::f64};
  const TestInput x{{2, 6, 5}, {}, TestLayout::contiguous, f32}, c{{6}, {}, TestLayout::contiguous, f32},
      two{{2}, {}, TestLayout::contiguous, f32}, exact{{6}, {}, TestLayout::contiguous, f64};
  const TestInput none{.shape = {}, .defined = false};
  const Attributes relu = Attributes::of(BatchNormGradientOptions{.relu = true});
  return {refuses<ValueError>({x, x, c, c}, {"epsilon", "-1"}, Attributes::of(BatchNormGradientOptions{-1})),
          refuses<ShapeError>({x, x, two, c}, {"mean has shape [2]", "[6]"}),
          refuses<ShapeError>({x, x, c, two}, {"variance has shape [2]", "[6]"}),
          refuses<ShapeError>({x, x, c, c, two}, {"w has shape [2]", "[6]"}),
          refuses<ShapeError>({c, x, c, c}, {"dy has shape [6]", "[2, 6, 5]"}),
          refuses<ShapeError>({x, x, c, c, none, c}, {"y has shape [6]", "[2, 6, 5]"}),
          refuses<ShapeError>({x, x, c, c, none, none, two}, {"b has shape [2]", "[6]"}, relu),
          refuses<ValueError>({x, x, c, c, none, x}, {"y", "relu"}, relu),
          refuses<ValueError>({x, x, c, c, none, none, c}, {"b", "relu"}),
          refuses<ShapeError>({c, c, c, c}, {"[6]", "[N, C, ...]"}),
          refuses<DTypeError>({x, x, exact, c}, {"mean is f64", "f32"}),
          refuses<DTypeError>({x, x, c, exact}, {"variance is f64", "f32"}),
          refuses<DTypeError>({x, x, c, c, exact}, {"w is f64", "f32"})};
}

/// With operands of up to 2, |x - mean| ≤ 3 and σ ≥ 1, what is added up to an element of dx stays below 2·(2
/// + 2 + 3·6), to one of dw below 6·M and of db below 2·M: so many times an operand's largest. A sum of dx
/// may be off by what its M elements are off by, and by M roundings of M times 44.
ErrorModel error(Specs inputs, const Attributes& attributes) {
  const Shape& x = inputs[kX].shape;
  const double M = x.rank() < 2 ? 0 : double(x[0] * places_of(x)), roundings = M + 8;
  ErrorModel model{ErrorModel::largest_input, 22 * roundings, {3 * M * roundings, M * roundings}};
  const BatchNormGradientPlaces places(attributes.as<BatchNormGradientOptions>(), has(inputs, kY));
  if (places.dz) model.further_terms.push_back(2);
  if (places.sum) model.further_terms.push_back(44 * M * roundings);
  return model;
}

std::vector<BenchCase> bench_cases(DeviceKind device) {
  if (device == DeviceKind::simt) return {};
  const Attributes plain = Attributes::of(BatchNormGradientOptions{}),
                   residual = Attributes::of(BatchNormGradientOptions{1e-5, true});
  const Shape x{128, 32, 28, 28}, c{32};
  return {{"128×32×28×28", {x, x, c, c, c}, plain},
          {"128×32×28×28 channels_last", {x, x, c, c, c}, plain, true},
          {"128×32×28×28 ReLU, channels_last",
           {x, x, c, c, c, {}, c},
           Attributes::of(BatchNormGradientOptions{.relu = true}),
           true},
          {"128×32×28×28 residual, ReLU, channels_last", {x, x, c, c, c, x}, residual, true}};
}

}  // namespace

namespace ops {

void register_batch_norm_gradient(Registry& registry) {
  registry.add({.name = kName,
                .summary =
                    "dx, dw, db of batch_norm from dy, x, mean, variance, w and y or b, and dz for the "
                    "residual, the sum of dx",
                .options = &schema_of<BatchNormGradientOptions>(),
                .dtype_operand = kX,
                .optional = {kW, kY, kB},
                .infer = infer,
                .reference = reference,
                .gradient = gradient,
                .saves = {{Saved::input, kDy},
                          {Saved::input, kX},
                          {Saved::input, kMean},
                          {Saved::input, kVariance},
                          {Saved::input, kW},
                          {Saved::input, kY},
                          {Saved::input, kB}},
                .compose = compose,
                .cases = cases,
                .refused_calls = refused_calls,
                .error = error,
                .operations = for_each_of_input(kX, 12),
                .bench_cases = bench_cases});
}

}  // namespace ops

const Op& batch_norm_gradient_op() {
  static const Op& op = op_named(kName);
  return op;
}

BatchNormGradients batch_norm_gradient(const Tensor& dy, const Tensor& x, const Tensor& mean,
                                       const Tensor& variance, const Tensor& w, const Tensor& y,
                                       const Tensor& b, const BatchNormGradientOptions& options) {
  auto outputs = apply(batch_norm_gradient_op(), {dy, x, mean, variance, w, y, b}, Attributes::of(options));
  const BatchNormGradientPlaces places(options, y.defined());
  const Tensor dz = places.dz ? outputs[size_t(places.dz)] : options.residual ? dy : Tensor();
  return {outputs[0], outputs[1], outputs[2], dz};
}

}  // namespace treadle
