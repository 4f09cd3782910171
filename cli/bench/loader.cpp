#include <fmt/core.h>
#include <time.h>

#include <array>
#include <chrono>
#include <memory>

#include "cli/bench/timing.h"
#include "cli/command.h"
#include "cli/format.h"
#include "cli/learning_tasks.h"
#include "cli/settings_options.h"
#include "cli/standard_output.h"
#include "cli/train_options.h"
#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/core/parallel_for.h"
#include "treadle/data/loader.h"
#include "treadle/data/pixel_statistics.h"
#include "treadle/models/model.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/optim/optimizer.h"
#include "treadle/train/classification/classifier_loss.h"
#include "treadle/train/classification/tensors_on.h"
#include "treadle/train/training_step.h"

namespace treadle::cli {
namespace {

struct LoaderBench : BindingSettings {
  std::string model = usual_model().name, data = dataset_names().front(), optimizer = "adam", augment,
              loader_threads = "auto";
  int64_t batch = 32;
  double seconds = 6;
  bool normalize = false, json = false;

  static void describe(auto& field) {
    using O = LoaderBench;
    field("model", &O::model, "The model");
    field("data", &O::data, "Data set, or a folder or file");
    field("batch", &O::batch, "Examples per step", {.check = whole_number(1)});
    field("optimizer", &O::optimizer, "Rule of the updates", {.check = one_of(known_optimizers())});
    field("augment", &O::augment, augmentation_summaries(), {.check = augmentation_list()});
    field("loader_threads", &O::loader_threads, "Threads that make batches ahead",
          {.check = automatic_or(whole_number(0, kMostLoaderThreads))});
    field("normalize", &O::normalize, "Subtract the mean, divide by the deviation");
    field("seconds", &O::seconds, "Time for all steps together", {.check = positive_number()});
    BindingSettings::describe(field);
    field("json", &O::json, "One JSON object on the last line");
  }
};

constexpr int64_t kBlockSteps = 64, kSkippedSteps = 16;
constexpr double kMemoryBytes = 256e6;
/// So many batches are more than a processor learns by heart: the steps on an epoch of 94 batches that come
/// again and again are a tenth faster.
constexpr size_t kLeastBatches = 2048;
constexpr double kRate = 1e-4;  // so that weights stay about as they are

using Batches = std::function<std::vector<Tensor>()>;

/// One way to come by batches, and what a step on them took in each block.
struct Way {
  const char* name;
  Batches next;
  std::vector<double> seconds = {};
  std::vector<double> processor_seconds = {};  ///< of all threads
};

double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

/// Batches of whole epochs, or of as much of one as is kept, that lie in memory, one after another, as the
/// step takes them.
Batches in_memory(const ImageDataset& data, const BatchSampler& from, LoaderOptions options, Device device) {
  options.threads = 0;
  BatchSampler sampler = from;
  Loader loader(data, sampler, options);
  auto all = std::make_shared<std::vector<std::vector<Tensor>>>();
  double bytes = 0;
  do {
    sampler.next();
    all->push_back(tensors_on(device, loader.next()));
    bytes += double(all->back()[0].numel()) * sizeof(float);
  } while (bytes < kMemoryBytes && (!sampler.epoch_finished() || all->size() < kLeastBatches));
  return [all, place = size_t(0)]() mutable { return (*all)[place++ % all->size()]; };
}

Batches by_loader(const ImageDataset& data, const BatchSampler& from, const LoaderOptions& options,
                  Device device) {
  return [loader = std::make_shared<Loader>(data, from, options), device] {
    return tensors_on(device, loader->next());
  };
}

/// The first steps are not counted: batches for them were made before the block.
void time_block(CompiledFunction& step, Way& way) {
  std::chrono::steady_clock::time_point start;
  double processor_start = 0;
  for (int64_t i = -kSkippedSteps; i < kBlockSteps; ++i) {
    if (i == 0) start = std::chrono::steady_clock::now(), processor_start = processor_time();
    Tensor loss;
    step.call(way.next(), {&loss, 1});
    loss.item();
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  way.processor_seconds.push_back((processor_time() - processor_start) / double(kBlockSteps));
  way.seconds.push_back(taken.count() / double(kBlockSteps));
}

/// The ways take turns, each as often behind one as behind another, so that whatever else the machine does
/// meets all of them.
void time_in_turns(CompiledFunction& step, std::span<Way> ways, double seconds) {
  for (Way& way : ways) {  // records programs and measures variants
    time_block(step, way);
    way.seconds.clear(), way.processor_seconds.clear();
  }
  const auto begin = std::chrono::steady_clock::now();
  size_t turn = 0;
  do {
    for (size_t i = 0; i < ways.size(); ++i) time_block(step, ways[(turn + i) % ways.size()]);
    ++turn;
  } while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < seconds);
}

/// Of the steps from memory to those of the way: 1 where batches cost nothing.
double share(const std::vector<double>& memory, const std::vector<double>& way, double quantile_of_both) {
  return quantile(memory, quantile_of_both) / quantile(way, quantile_of_both);
}

Json json_of(const Way& way, const Way& memory, int64_t batch) {
  const double median = quantile(way.seconds, 0.5);
  return {{"batches", way.name},
          {"step_seconds_median", median},
          {"step_seconds_p10", quantile(way.seconds, 0.1)},
          {"examples_per_second", double(batch) / median},
          {"processor_seconds_median", quantile(way.processor_seconds, 0.5)},
          {"share_of_memory_median", share(memory.seconds, way.seconds, 0.5)},
          {"share_of_memory_p10", share(memory.seconds, way.seconds, 0.1)},
          {"share_of_memory_processor", share(memory.processor_seconds, way.processor_seconds, 0.5)}};
}

std::vector<std::string> row_of(const Way& way, const Way& memory, int64_t batch) {
  const double median = quantile(way.seconds, 0.5);
  return {way.name,
          fmt::format("{:.3f}", 1e3 * median),
          fmt::format("{:.3f}", 1e3 * quantile(way.seconds, 0.1)),
          with_commas(int64_t(double(batch) / median)),
          fmt::format("{:.3f}", share(memory.seconds, way.seconds, 0.5)),
          fmt::format("{:.3f}", share(memory.seconds, way.seconds, 0.1)),
          fmt::format("{:.3f}", share(memory.processor_seconds, way.processor_seconds, 0.5))};
}

void report(const LoaderBench& bench, Device device, std::span<const Way> ways, int threads) {
  const Way& memory = ways[0];
  if (bench.json) {
    std::vector<Json> list;
    for (const Way& way : ways) list.push_back(json_of(way, memory, bench.batch));
    print_json({{"model", bench.model},
                {"data", bench.data},
                {"batch", bench.batch},
                {"augment", bench.augment},
                {"device", to_string(device)},
                {"threads", num_threads()},
                {"loader_threads", threads},
                {"blocks", int64_t(memory.seconds.size())},
                {"block_steps", kBlockSteps},
                {"ways", list}});
    return;
  }
  fmt::print("{} on {} of {}, batch {}{}{}; {} blocks of {} steps each, {} loader threads\n", bench.model,
             to_string(device), bench.data, bench.batch, bench.augment.empty() ? "" : ", ", bench.augment,
             memory.seconds.size(), kBlockSteps, threads);
  std::vector<std::vector<std::string>> rows{{"batches", "ms a step, median", "p10", "examples/s",
                                              "share of memory's, median", "p10", "processor time"}};
  for (const Way& way : ways) rows.push_back(row_of(way, memory, bench.batch));
  fmt::print("{}", table(rows, {1, 2, 3, 4, 5, 6}));
}

int run(const LoaderBench& bench) {
  require_task_of_images(bench.model, "bench");
  const Device device = apply_run_settings(bench);
  const ImageDataset data = load_dataset(bench.data).train;
  require<ValueError>(bench.batch <= data.size(), "{} has {} training examples, fewer than a batch of {}",
                      bench.data, data.size(), bench.batch);
  const auto model = make_model(bench.model, {data.image_shape, int64_t(data.classes.size())});
  model->to(device);
  model->train();
  const auto optimizer = make_optimizer(bench.optimizer, model->named_parameters(), kRate);
  CompiledFunction step([step = training_step(*optimizer, classifier_loss(*model))](
                            std::span<const Tensor> batch) { return std::vector{step(batch)}; });
  LoaderOptions options{.augmentations = Augmentations::parse(bench.augment)};
  if (bench.normalize) options.normalization = measure_normalization(data);
  options.threads = loader_threads_in(bench.loader_threads);
  const BatchSampler sampler(data.size(), bench.batch, 0);
  LoaderOptions without = options;
  without.threads = 0;
  std::array ways{Way{"from memory", in_memory(data, sampler, options, device)},
                  Way{"by the loader", by_loader(data, sampler, options, device)},
                  Way{"made by the step", by_loader(data, sampler, without, device)}};
  time_in_turns(step, ways, bench.seconds);
  report(bench, device, ways, Loader(data, sampler, options).threads());
  return kSuccess;
}

}  // namespace

void register_bench_loader(Commands& commands) {
  commands.add({.place = 6,
                .name = "bench loader",
                .description = "Training steps on batches of a loader, and on batches in memory",
                .example = "treadle bench loader --model lenet5 --data mnist --augment rotate:10"},
               run);
}

}  // namespace treadle::cli
