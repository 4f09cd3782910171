#include "cli/bench/conv_grid.h"
#include "cli/bench/chosen_variant.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>

#include "cli/bench/op_case.h"
#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/graph/settings.h"
#include "treadle/ops/conv2d/conv2d.h"
#include "treadle/ops/conv2d/conv2d_options.h"
#include "treadle/ops/conv2d_max_pool2d/conv2d_max_pool2d.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/pointwise/relu_gradient.h"
#include "treadle/ops/pool2d/max_pool2d.h"

namespace treadle::cli {
namespace {

// channels, filters, size, kernel, stride
constexpr int64_t kShapes[][5] = {
    {1, 6, 28, 5, 1},     {1, 16, 28, 3, 1},    {1, 32, 64, 3, 1},    {1, 64, 28, 5, 1},
    {3, 16, 32, 3, 1},    {3, 32, 64, 3, 2},    {3, 64, 64, 5, 2},    {6, 16, 14, 5, 1},
    {8, 8, 64, 3, 1},     {16, 16, 32, 3, 1},   {16, 32, 32, 3, 2},   {16, 64, 56, 1, 1},
    {24, 24, 28, 5, 1},   {32, 32, 32, 3, 1},   {32, 64, 13, 3, 1},   {32, 64, 28, 5, 2},
    {48, 96, 17, 3, 1},   {64, 64, 16, 3, 1},   {64, 64, 56, 3, 1},   {64, 128, 13, 3, 1},
    {64, 128, 28, 3, 2},  {64, 256, 28, 1, 1},  {100, 50, 11, 3, 1},  {128, 128, 8, 3, 1},
    {128, 128, 28, 3, 1}, {128, 256, 14, 1, 2}, {128, 64, 14, 5, 1},  {256, 64, 28, 1, 1},
    {256, 256, 7, 3, 1},  {256, 256, 14, 3, 1}, {256, 512, 14, 3, 2}, {512, 128, 14, 1, 1},
    {512, 512, 7, 1, 1},  {512, 512, 7, 3, 1},
};
// Those that are also timed with a 2×2 pool after them.
constexpr int64_t kPooledShapes[][5] = {
    {1, 6, 28, 5, 1},     {1, 32, 28, 3, 1},    {1, 64, 64, 3, 1},    {3, 32, 32, 3, 1},
    {3, 64, 64, 3, 2},    {6, 16, 14, 5, 1},    {16, 32, 32, 3, 1},   {24, 48, 19, 3, 1},
    {32, 64, 16, 3, 1},   {32, 32, 28, 5, 1},   {64, 64, 32, 3, 1},   {64, 128, 13, 3, 1},
    {64, 128, 28, 1, 1},  {128, 128, 14, 3, 1}, {128, 256, 16, 3, 1}, {256, 256, 14, 3, 2},
    {512, 256, 14, 1, 1}, {512, 512, 8, 3, 1},
};

constexpr Device kDevice = kCpu;

/// A shape in one layout: makes the inputs of its calls.
class Inputs {
 public:
  Inputs(const ConvShape& shape, int64_t batch, bool channels_last)
      : shape_(shape), batch_(batch), channels_last_(channels_last) {}

  Tensor x() const { return random({batch_, shape_.channels, shape_.size, shape_.size}, channels_last_); }
  Tensor w() const { return random({shape_.filters, shape_.channels, shape_.kernel, shape_.kernel}, false); }
  Tensor b() const { return random({shape_.filters}, false); }
  Tensor dy(int64_t size) const { return random({batch_, shape_.filters, size, size}, channels_last_); }

  template <class Options>
  Options options() const {
    Options options;
    options.stride = shape_.stride, options.padding = Pads(shape_.kernel / 2);
    if constexpr (requires { options.input_size; })
      options.input_size = Pair(shape_.size), options.channels_last = channels_last_;
    if constexpr (requires { options.kernel_size; }) options.kernel_size = Pair(shape_.kernel);
    return options;
  }
  bool channels_last() const { return channels_last_; }
  const char* layout() const { return channels_last_ ? "channels-last" : "row-major"; }

 private:
  static Tensor random(const Shape& shape, bool channels_last) {
    return random_input(shape, DType::f32, kDevice, channels_last);
  }

  const ConvShape& shape_;
  int64_t batch_;
  bool channels_last_;
};

OpCase conv_case(const Inputs& in, int64_t output_size, ConvPass pass) {
  switch (pass) {
    case ConvPass::forward:
      return {"", {in.x(), in.w(), in.b()}, Attributes::of(in.options<Conv2dOptions>())};
    case ConvPass::input_gradient:
      return {"", {in.dy(output_size), in.w()}, Attributes::of(in.options<Conv2dInputGradientOptions>())};
    default:
      return {"", {in.x(), in.dy(output_size)}, Attributes::of(in.options<Conv2dWeightGradientOptions>())};
  }
}

const Op& (*const kConv[])() = {conv2d_op, conv2d_input_gradient_op, conv2d_weight_gradient_op};
const Op& (*const kFused[])() = {conv2d_max_pool2d_op, conv2d_max_pool2d_input_gradient_op,
                                 conv2d_max_pool2d_weight_gradient_op};

/// Pooling and ReLU after a convolution, or their gradients before one: around `convolve`.
std::function<void()> with_pool(const ConvShape& shape, const Inputs& in, ConvPass pass, OpCase conv,
                                const Op& op, const char* variant) {
  auto run_conv = [=, &op](const OpCase& entry) {
    ChosenVariant chosen(op.name, variant);
    return apply(op, entry.inputs, entry.attributes)[0];
  };
  if (pass == ConvPass::forward) return [=] { relu(max_pool2d(run_conv(conv))); };
  const Tensor below = in.dy(shape.output_size());
  const MaxPool2dResult pooled = max_pool2d_with_positions(below);
  const Tensor dy = in.dy(shape.output_size() / 2);
  MaxPool2dGradientOptions options;
  options.input_size = Pair(shape.output_size());
  options.channels_last = in.channels_last();
  return [=] {
    OpCase entry = conv;
    entry.inputs[pass == ConvPass::input_gradient ? 0 : 1] =
        max_pool2d_gradient(relu_gradient(pooled.y, dy), pooled.positions, options);
    run_conv(entry);
  };
}

/// The variants of an op that are oneDNN's, or those that are Treadle's own.
std::vector<const Variant*> variants_of(const Op& op, const OpCase& entry, bool library) {
  auto list = variants_for(op, entry, kDevice);
  std::erase_if(list, [&](const Variant* variant) { return (variant->engine == Engine::onednn) != library; });
  return list;
}

void add_ways(const Op& op, const OpCase& entry, const Inputs& in, bool library, std::vector<ConvWay>& ways) {
  for (const Variant* variant : variants_of(op, entry, library))
    ways.push_back({fmt::format("{}, {}", variant->name, in.layout()),
                    library ? ConvKind::library : ConvKind::own, [=, &op] {
                      ChosenVariant chosen(op.name, variant->name);
                      apply(op, entry.inputs, entry.attributes);
                    }});
}

void add_pooled_library(const ConvShape& shape, const Inputs& in, ConvPass pass, const Op& op,
                        const OpCase& conv, std::vector<ConvWay>& ways) {
  for (const Variant* variant : variants_of(op, conv, true))
    ways.push_back({fmt::format("{} + pool, {}", variant->name, in.layout()), ConvKind::library,
                    with_pool(shape, in, pass, conv, op, variant->name)});
}

std::string variant_in(const CompiledFunction& program, const Op& op) {
  for (const ProgramStep& step : program.programs().back().program->steps)
    if (step.op == &op) return step.variant->name;
  return "none";
}

/// The op in a compiled function.
void add_program(const Op& op, const OpCase& entry, const Inputs& in, std::vector<ConvWay>& ways) {
  auto program = std::make_shared<CompiledFunction>([&op, attributes = entry.attributes](auto arguments) {
    return apply(op, {arguments.begin(), arguments.end()}, attributes);
  });
  auto results = std::make_shared<std::vector<Tensor>>();
  const std::string layout = in.layout();
  ways.push_back({"", ConvKind::program, [=] { *results = (*program)(entry.inputs); },
                  [=, &op] { return fmt::format("{}, {}", variant_in(*program, op), layout); }});
}

/// Windows at random have no gradient, as where ReLU is closed.
void close_windows(Tensor& choice, double density) {
  std::mt19937 random(1);
  std::bernoulli_distribution open(density);
  uint8_t* places = choice.data<uint8_t>();
  for (int64_t i = 0; i < choice.numel(); ++i)
    if (!open(random)) places[i] = kNoChoice;
}

OpCase fused_case(const ConvShape& shape, const Inputs& in, ConvPass pass, double density) {
  auto options = in.options<Conv2dMaxPool2dOptions>();
  OpCase forward{"", {in.x(), in.w(), in.b()}, Attributes::of(options)};
  if (pass == ConvPass::forward) return forward;
  options.relu = false;  // else windows are closed that are not counted
  Tensor choice = apply(kFused[0](), forward.inputs, Attributes::of(options))[1];
  close_windows(choice, density);
  const Tensor dy = in.dy(shape.output_size() / 2);
  if (pass == ConvPass::input_gradient)
    return {"", {dy, choice, in.w()}, Attributes::of(in.options<Conv2dMaxPool2dInputGradientOptions>())};
  return {"", {in.x(), dy, choice}, Attributes::of(in.options<Conv2dMaxPool2dWeightGradientOptions>())};
}

}  // namespace

double ConvShape::operations() const {
  const int64_t output = output_size();
  return 2.0 * double(batch) * double(output * output) * double(channels * filters) * double(kernel * kernel);
}

std::string ConvShape::name() const {
  return fmt::format("N={} {}→{} {}×{}{} on {}²{}", batch, channels, filters, kernel, kernel,
                     stride == 1 ? "" : fmt::format(" stride {}", stride), size, pool ? " + pool" : "");
}

std::vector<ConvShape> conv_grid(int64_t most_images, double most_operations, int64_t threads) {
  std::vector<ConvShape> grid;
  auto add = [&](const int64_t(&s)[5], bool pool) {
    ConvShape shape{s[0], s[1], s[2], s[3], s[4], pool, 1};
    const auto allowed = int64_t(most_operations / shape.operations());
    shape.batch =
        std::max(std::min(threads, most_images), std::min(most_images, allowed / threads * threads));
    grid.push_back(shape);
  };
  for (const auto& shape : kShapes) add(shape, false);
  for (const auto& shape : kPooledShapes) add(shape, true);
  return grid;
}

std::vector<ConvWay> conv_ways(const ConvShape& shape, int64_t batch, ConvPass pass, double density) {
  std::vector<ConvWay> ways;
  const Op &conv_op = kConv[int(pass)](), &fused_op = kFused[int(pass)]();
  for (bool channels_last : {true, false}) {
    const Inputs in(shape, batch, channels_last);
    const OpCase conv = conv_case(in, shape.output_size(), pass);
    if (shape.pool) {
      const OpCase fused = fused_case(shape, in, pass, density);
      add_ways(fused_op, fused, in, false, ways);
      add_pooled_library(shape, in, pass, conv_op, conv, ways);
      add_program(fused_op, fused, in, ways);
    } else {
      add_ways(conv_op, conv, in, false, ways);
      add_ways(conv_op, conv, in, true, ways);
      add_program(conv_op, conv, in, ways);
    }
  }
  return ways;
}

}  // namespace treadle::cli
