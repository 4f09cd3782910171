// An op of one's own: y = x·σ(x), by a body in terms of other ops and a gradient that is shorter than theirs.
// It runs on every device, eager and compiled.
#include <treadle/treadle.h>

#include <iostream>

using namespace treadle;

const Op& swish_op() {
  static const Op& op =
      register_op({.name = "swish",
                   .summary = "y = x·σ(x)",
                   .infer = [](Specs inputs, const Attributes&) { return std::vector{inputs[0]}; },
                   .gradient =
                       [](const GradientContext& context) {
                         const Tensor x = context.input(0), s = sigmoid(x);
                         return std::vector{context.upstream() * s * (1 + x * (1 - s))};
                       },
                   .saves = {{Saved::input, 0}},
                   .compose =
                       [](const Composition& call) {
                         const TensorView s = call.scratch(call.input(0).shape, call.input(0).dtype);
                         call.run(sigmoid_op(), {call.input(0)}, {s});
                         call.run(mul_op(), {call.input(0), s}, {call.output()});
                       }});
  return op;
}

Tensor swish(const Tensor& x) { return apply(swish_op(), {x})[0]; }

int main() {
  Tensor x = Tensor::from({-3, -0.5f, 0, 0.5f, 3}, {5}).set_requires_grad();
  const Tensor y = swish(x);
  sum(y).backward();
  std::cout << y.to_string() << "\n" << x.grad().to_string() << "\n";
  auto twice = compile([](Tensor values) { return swish(values) * 2; });
  std::cout << twice(x.detach()).to_string() << "\n" << twice.programs()[0].program->to_string();

  // Against finite differences, whose own rounding in f32 leaves four digits.
  const float h = 1e-2f;
  const Tensor numeric = (swish(x.detach() + h) - swish(x.detach() - h)) / (2 * h);
  const double difference = max(abs(numeric - x.grad())).item();
  std::cout << "largest difference from finite differences: " << difference << "\n";
  return difference < 1e-3 ? 0 : 1;
}
