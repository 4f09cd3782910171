// A training loop of one's own: LeNet-5 on images of Fashion-MNIST that a loader augments, the learning rate
// by a formula, the weights kept that were best on a part held out.
#include <treadle/treadle.h>

#include <cmath>
#include <iostream>

using namespace treadle;

int main() {
  constexpr int kSteps = 300, kBatch = 64;
  DatasetSplits data = load_dataset("fashion-mnist");
  hold_out(data, 0.1, 3);
  const auto model = make_model("lenet5", 3);
  Sgd optimizer(model->named_parameters(), 0, {.momentum = 0.9});
  auto step = compile([&](Tensor images, Tensor labels) {
    optimizer.zero_grad();
    Tensor loss = cross_entropy((*model)(images), labels);
    loss.backward();
    optimizer.step();
    return loss;
  });
  Loader loader(data.train, BatchSampler(data.train.size(), kBatch, 3),
                {.augmentations = Augmentations::parse("flip"), .seed = 3});
  Evaluator accuracy_of(*model);
  std::vector<NamedTensor> best;
  double best_accuracy = 0;
  for (int i = 1; i <= kSteps; ++i) {
    const double warm_up = std::min(1.0, i / 30.0);
    optimizer.set_learning_rate(0.05 * warm_up * 0.5 * (1 + std::cos(3.14159265 * i / kSteps)));
    const AugmentedBatch batch = loader.next();
    const double loss = step(batch.examples, batch.targets).item();
    if (i % 100 != 0) continue;
    const double accuracy = accuracy_of(data.validation, {}, kCpu, 256, 2000).accuracy;
    std::cout << "step " << i << ": loss " << loss << ", validation accuracy " << 100 * accuracy << " %\n";
    if (accuracy <= best_accuracy) continue;
    best_accuracy = accuracy;
    best.clear();
    for (const auto& [name, tensor] : model->state_dict()) best.push_back({name, clone(tensor.detach())});
  }
  model->load_state_dict(best);
  std::cout << "test accuracy " << 100 * accuracy_of(data.test, {}, kCpu).accuracy << " %\n";
  return best_accuracy > 0.7 ? 0 : 1;
}
