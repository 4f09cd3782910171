#include "cli/train_options.h"

#include <cmath>

#include "cli/option_checks.h"
#include "treadle/core/error.h"
#include "treadle/core/nearest_name.h"
#include "treadle/models/model.h"
#include "treadle/optim/optimizer.h"

namespace treadle::cli {
namespace {

/// A recipe for one model, or for all when `model` is empty. Without `data` it leaves the data set alone.
struct Preset {
  std::string_view name, model;
  const char *data, *optimizer, *schedule;
  double learning_rate, warm_up;
  int64_t epochs, batch_size, max_steps;
  bool normalize;
  const char* test;
};
constexpr Preset kPresets[] = {
    {"baseline", "", "", "adam", "cosine", 1e-3, Schedule::kWarmUp, 5, 32, 0, false, "each"},
    {"fast", "fashion_cnn", "fashion-mnist", "adam", "one-cycle", 1.5e-3, 0.2, 3, 48, 3500, true, "last"},
    {"fast", "mnist_cnn", "mnist", "adam", "one-cycle", 4e-3, 0.2, 2, 32, 3000, true, "last"},
};

const Preset& find_preset(const std::string& name, const std::string& model) {
  std::vector<std::string> known;
  for (const Preset& preset : kPresets) {
    if (!preset.model.empty() && preset.model != model) continue;
    if (preset.name == name) return preset;
    known.emplace_back(preset.name);
  }
  throw ValueError(unknown_name(model + " has no preset called", name, known));
}

void add_recipe(CLI::App& app, TrainOptions& o) {
  app.add_option("--epochs", o.epochs, "Passes over the training images")
      ->transform(whole_number(1))
      ->capture_default_str();
  app.add_option("--batch-size", o.batch_size, "Images per step")
      ->transform(whole_number(1))
      ->capture_default_str();
  app.add_option("--optimizer", o.optimizer, "Rule of the updates")
      ->check(one_of(known_optimizers()))
      ->capture_default_str();
  app.add_option("--lr", o.learning_rate, "Learning rate")->check(number_from(0))->capture_default_str();
  app.add_option("--schedule", o.schedule,
                 "constant; cosine, linear: to 0 over all steps; one-cycle: a linear rise first")
      ->check(one_of(known_schedules()))
      ->capture_default_str();
  app.add_option("--warm-up", o.warm_up, "Share of the steps in which one-cycle rises")
      ->check(number_between(0, 0.99))
      ->capture_default_str();
  app.add_option("--preset", o.preset,
                 "A named recipe: baseline; fast (fashion_cnn on Fashion-MNIST, mnist_cnn on MNIST)");
  app.add_flag("--normalize", o.normalize,
               "Subtract the mean of the training pixels, divide by their deviation");
}

void add_limits(CLI::App& app, TrainOptions& o) {
  app.add_option("--seed", o.seed, "Initial weights, the order of images and the validation part")
      ->transform(seed_number())
      ->capture_default_str();
  app.add_option("--limit-batches", o.limit_batches,
                 "Stop each epoch after so many batches, and test on as many images; 0: no limit")
      ->transform(whole_number(0));
  app.add_option("--steps", o.max_steps, "End the run after so many steps; 0: after all epochs")
      ->transform(whole_number(0));
  app.add_option("--validation", o.validation,
                 "Share of the training images to hold out; the epoch that is best on them becomes "
                 "best.safetensors. 0: train on all, the last epoch counts")
      ->check(number_between(0, 0.99))
      ->capture_default_str();
  app.add_option("--test", o.test, "Print test figures after each epoch or the last; they choose nothing")
      ->check(one_of({"each", "last"}))
      ->capture_default_str();
}

void add_run_folder(CLI::App& app, TrainOptions& o) {
  app.add_option("--out", o.out, "Run folder; default: a new one, runs/MODEL, runs/MODEL-2, …");
  CLI::Option* resume = app.add_flag("--resume", o.resume, "Go on from last.safetensors in the run folder");
  app.add_flag("--overwrite", o.overwrite,
               "Let a new run replace the one in --out, once it has something to save")
      ->excludes(resume);
}

}  // namespace

void add_train_options(CLI::App& app, TrainOptions& o) {
  app.add_option("MODEL", o.model, "mlp, lenet5, fashion_cnn, mnist_cnn; `treadle models` lists them")
      ->required();
  app.add_option("--data", o.data, "fashion-mnist, mnist, cifar-10 or a folder")->capture_default_str();
  add_recipe(app, o);
  add_limits(app, o);
  add_run_folder(app, o);
  add_run_settings(app, o.settings);
  add_binding(app, o.settings);
  app.add_flag("--json", o.json, "One JSON object on the last line");
  app.add_flag("--quiet", o.quiet, "Print nothing but errors and --json");
}

void apply_preset(const CLI::App& app, TrainOptions& options) {
  if (options.preset.empty()) return;
  const Preset& preset = find_preset(options.preset, options.model);
  auto take = [&app](const char* option, auto& target, const auto& value) {
    if (!app.count(option)) target = value;
  };
  if (*preset.data) take("--data", options.data, preset.data);
  take("--optimizer", options.optimizer, preset.optimizer);
  take("--schedule", options.schedule, preset.schedule);
  take("--lr", options.learning_rate, preset.learning_rate);
  take("--warm-up", options.warm_up, preset.warm_up);
  take("--epochs", options.epochs, preset.epochs);
  take("--batch-size", options.batch_size, preset.batch_size);
  take("--steps", options.max_steps, preset.max_steps);
  take("--normalize", options.normalize, preset.normalize);
  take("--test", options.test, preset.test);
}

void check(const TrainOptions& o) {
  model_info(o.model);
  require<ValueError>(std::isfinite(o.learning_rate), "--lr {} is not a learning rate", o.learning_rate);
  require<ValueError>(o.validation >= 0 && o.validation < 1, "--validation {} is not within [0, 1)",
                      o.validation);
  require<ValueError>(!o.overwrite || !o.out.empty(),
                      "--overwrite needs --out: without it a new run gets a folder of its own");
  Schedule::named(o.schedule, o.learning_rate, 1, o.warm_up);
}

}  // namespace treadle::cli
