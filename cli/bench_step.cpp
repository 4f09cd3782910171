#include "cli/bench_step.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/format.h"
#include "cli/timing.h"
#include "treadle/core/parallel_for.h"
#include "treadle/core/runtime.h"
#include "treadle/graph/autograd.h"
#include "treadle/models/model.h"
#include "treadle/ops/cross_entropy.h"
#include "treadle/optim/optimizer.h"
#include "treadle/train/evaluate.h"

namespace treadle::cli {
namespace {

/// Steps of training or inference on shuffled batches of a data set.
class Steps {
 public:
  Steps(const StepBench& bench, Device device)
      : device_(device),
        data_(load_dataset(bench.data).train),
        model_(make_model(bench.model)),
        sampler_(data_.size(), bench.batch, 0) {
    model_->to(device);
    optimizer_ = make_optimizer(bench.optimizer, model_->named_parameters(), 0.01);
  }

  void train() {
    Batch batch = make_batch(data_, sampler_.next(), {}, device_);
    Tensor loss = cross_entropy((*model_)(batch.images), batch.labels);
    optimizer_->zero_grad();
    loss.backward();
    optimizer_->step();
    loss.item();
  }

  void infer() {
    NoGrad no_grad;
    Batch batch = make_batch(data_, sampler_.next(), {}, device_);
    (*model_)(batch.images);
    runtime(device_).synchronize();
  }

 private:
  Device device_;
  ImageDataset data_;
  std::shared_ptr<Module> model_;
  BatchSampler sampler_;
  std::unique_ptr<Optimizer> optimizer_;
};

constexpr double kSeconds = 3, kWarmUpSeconds = 0.5;
constexpr int64_t kWarmUpSteps = 20;

}  // namespace

int run_step_bench(const StepBench& bench) {
  Device device = apply_run_settings(bench.settings);
  Steps steps(bench, device);
  std::function<void()> work = [&] { bench.mode == "train" ? steps.train() : steps.infer(); };
  time_repeatedly(work, kWarmUpSeconds, kWarmUpSteps);
  auto seconds = time_repeatedly(work, bench.steps > 0 ? 0 : kSeconds, bench.steps > 0 ? bench.steps : 10);
  double median = quantile(seconds, 0.5), fast = quantile(seconds, 0.1), batch = double(bench.batch);
  if (bench.json) {
    nlohmann::json object = {{"model", bench.model},
                             {"mode", bench.mode},
                             {"batch", bench.batch},
                             {"optimizer", bench.optimizer},
                             {"device", to_string(device)},
                             {"threads", num_threads()},
                             {"steps", seconds.size()},
                             {"images_per_second_median", batch / median},
                             {"images_per_second_p90", batch / fast},
                             {"step_seconds_median", median},
                             {"step_seconds_p10", fast},
                             {"peak_memory_bytes", peak_memory_bytes()}};
    fmt::print("{}\n", object.dump());
  } else {
    fmt::print(
        "{} {} on {}, batch {}, {} steps: {} images/s (median), {} (p10 of the step time), step {:.3f} ms, "
        "peak {}\n",
        bench.model, bench.mode, to_string(device), bench.batch, seconds.size(),
        with_commas(int64_t(batch / median)), with_commas(int64_t(batch / fast)), 1e3 * median,
        byte_size(double(peak_memory_bytes())));
  }
  return kSuccess;
}

}  // namespace treadle::cli
