// What a program outside this repository can do with an installed Treadle: include, link, run.
#include <treadle/treadle.h>

#include <iostream>
#include <string>
#include <vector>

namespace {

// The header and the library that was found must be those of the package.
bool version_matches() {
  const std::string version(treadle::version());
  std::cout << "consumer: treadle " << version << ", package " << EXPECTED_VERSION << '\n';
  return version == EXPECTED_VERSION;
}

// A gradient, a step and a forward pass through the public header; true where the results are right.
bool computation_is_right() {
  using namespace treadle;
  Tensor x = Tensor::from({1, 2, 3, 4}, {2, 2}).set_requires_grad();
  sum(x * x).backward();
  Sgd optimizer({{"x", x}}, 0.5);
  optimizer.step();
  Tensor logits = (*make_model("fashion_cnn"))(Tensor::zeros({2, 1, 28, 28}));
  return x.grad().to_vector<float>() == std::vector<float>{2, 4, 6, 8} &&
         x.to_vector<float>() == std::vector<float>{0, 0, 0, 0} && logits.shape() == Shape{2, 10};
}

}  // namespace

int main() { return version_matches() && computation_is_right() ? 0 : 1; }
