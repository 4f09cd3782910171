// A loss of one's own: the focal loss (Lin et al., Focal Loss for Dense Object Detection, 2017), which cares
// less for what is right already. Its gradient follows from the ops that it is made of.
#include <treadle/treadle.h>

#include <iostream>

using namespace treadle;

// mean of -(1 - p)^γ·ln p, where p is the probability of the label's class.
Tensor focal_loss(const Tensor& logits, const Tensor& one_hot, double gamma) {
  const Tensor log_p = sum(log_softmax(logits) * one_hot, {-1});
  return -mean(pow(1 - exp(log_p), gamma) * log_p);
}

Tensor one_hot_of(const Tensor& labels, int64_t classes) {
  const Tensor numbers = arange(0, double(classes));
  return cast(equal(unsqueeze(labels, 1), numbers), DType::f32);
}

int main() {
  default_generator().set_seed(2);
  const DatasetSplits data = load_dataset("moons", {.seed = 2});
  Sequential model{std::make_shared<Linear>(2, 32), std::make_shared<ReLU>(),
                   std::make_shared<Linear>(32, 2)};
  Adam optimizer(model.named_parameters(), 0.01);
  auto step = compile([&](Tensor points, Tensor labels) {
    optimizer.zero_grad();
    Tensor loss = focal_loss(model(points), one_hot_of(labels, 2), 2);
    loss.backward();
    optimizer.step();
    return loss;
  });
  BatchSampler batches(data.train.size(), 32, 2);
  for (int i = 0; i < 600; ++i) {
    const Batch batch = make_batch(data.train, batches.next(), {}, kCpu);
    const double loss = step(batch.images, batch.labels).item();
    if (i % 200 == 199) std::cout << "step " << i + 1 << ": loss " << loss << "\n";
  }
  const double accuracy = evaluate(model, data.test, {}, kCpu).accuracy;
  std::cout << "test accuracy " << 100 * accuracy << " %\n";
  return accuracy > 0.9 ? 0 : 1;
}
