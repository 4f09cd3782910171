// A layer of one's own: a linear layer whose output another one gates, in a network that learns two spirals.
#include <treadle/treadle.h>

#include <iostream>

using namespace treadle;

// y = (x·W + b) · σ(x·V + c).
class GatedLinear : public Module {
 public:
  GatedLinear(int64_t in, int64_t out)
      : value_(register_module("value", std::make_shared<Linear>(in, out))),
        gate_(register_module("gate", std::make_shared<Linear>(in, out))) {}
  std::string describe() const override { return "GatedLinear"; }

 protected:
  Tensor forward(const Tensor& x) override { return (*value_)(x)*sigmoid((*gate_)(x)); }

 private:
  std::shared_ptr<Linear> value_, gate_;
};

int main() {
  default_generator().set_seed(1);
  const DatasetSplits data = load_dataset("spirals:2", {.seed = 1});
  Sequential model{std::make_shared<GatedLinear>(2, 64), std::make_shared<GatedLinear>(64, 64),
                   std::make_shared<Linear>(64, 2)};
  Adam optimizer(model.named_parameters(), 0.005);
  auto step = compile([&](Tensor points, Tensor labels) {
    optimizer.zero_grad();
    Tensor loss = cross_entropy(model(points), labels);
    loss.backward();
    optimizer.step();
    return loss;
  });
  BatchSampler batches(data.train.size(), 32, 1);
  for (int epoch = 0; epoch < 40; ++epoch) {
    double loss = 0;
    for (int64_t i = 0; i < batches.batches_per_epoch(); ++i) {
      const Batch batch = make_batch(data.train, batches.next(), {}, kCpu);
      loss += step(batch.images, batch.labels).item() / double(batches.batches_per_epoch());
    }
    if (epoch % 10 == 9) std::cout << "epoch " << epoch + 1 << ": loss " << loss << "\n";
  }
  const double accuracy = evaluate(model, data.test, {}, kCpu).accuracy;
  std::cout << "test accuracy " << 100 * accuracy << " %\n";
  return accuracy > 0.9 ? 0 : 1;
}
