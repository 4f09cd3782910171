#include "treadle/train/learning_rate_finder.h"

#include <algorithm>
#include <cmath>

#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/data/batches.h"
#include "treadle/train/copied_state.h"

namespace treadle {
namespace {

constexpr double kSmoothing = 0.98, kDiverged = 4;
constexpr int64_t kFewestSteps = 10;

/// Takes back what happens to a task while one lives.
class AsBefore {
 public:
  explicit AsBefore(const FitTask& task)
      : task_(task),
        training_(task.model.is_training()),
        rate_(task.optimizer.learning_rate()),
        model_(copies_of(task.model.state_dict())),
        optimizer_(copies_of(task.optimizer.state())),
        random_(default_generator()) {}
  ~AsBefore() {
    task_.model.load_state_dict(model_);
    task_.optimizer.load_state(optimizer_);
    task_.optimizer.zero_grad();
    task_.optimizer.set_learning_rate(rate_);
    task_.model.train(training_);
    default_generator() = random_;
  }

 private:
  const FitTask& task_;
  bool training_;
  double rate_;
  std::vector<NamedTensor> model_, optimizer_;
  Generator random_;
};

void check(const LearningRateSearch& s) {
  require<ValueError>(s.lowest > 0 && s.lowest < s.highest && std::isfinite(s.highest),
                      "find_learning_rate: from {} to {} is no rise from above 0", s.lowest, s.highest);
  require<ValueError>(s.steps >= kFewestSteps, "find_learning_rate: {} steps, at least {} are needed",
                      s.steps, kFewestSteps);
}

/// By differences over both neighbours, up to the least loss: behind it the curve only rises.
double steepest(const LearningRateCurve& curve) {
  const auto least = std::min_element(curve.losses.begin(), curve.losses.end());
  double fastest = 0, rate = 0;
  for (auto loss = curve.losses.begin() + 1; loss < least; ++loss)
    if (const double fall = *(loss - 1) - *(loss + 1); fall > fastest)
      fastest = fall, rate = curve.rates[size_t(loss - curve.losses.begin())];
  return rate;
}

}  // namespace

LearningRateCurve find_learning_rate(const FitTask& task, const LearningRateSearch& search) {
  check(search);
  const AsBefore as_before(task);
  task.model.train();
  const auto batches =
      task.examples.batches(BatchSampler(task.examples.size(), search.batch_size, search.seed));
  CompiledFunction step([&](std::span<const Tensor> batch) { return std::vector{task.step(batch)}; });
  LearningRateCurve curve;
  double sum = 0, weight = 0, least = INFINITY;
  for (int64_t i = 0; i < search.steps && !search.stop.stop_requested(); ++i) {
    const double share = double(i) / double(search.steps - 1);
    const double rate = search.lowest * std::pow(search.highest / search.lowest, share);
    task.optimizer.set_learning_rate(rate);
    const std::vector<Tensor> batch = batches->next();
    sum = kSmoothing * sum + (1 - kSmoothing) * step(batch)[0].item();
    weight = kSmoothing * weight + (1 - kSmoothing);
    const double loss = sum / weight;
    if (!std::isfinite(loss) || loss > kDiverged * least) break;
    least = std::min(least, loss);
    curve.rates.push_back(rate);
    curve.losses.push_back(loss);
    if (search.on_step) search.on_step(i + 1);
  }
  if (!curve.losses.empty()) curve.suggestion = steepest(curve);
  return curve;
}

}  // namespace treadle
