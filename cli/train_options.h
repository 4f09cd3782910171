/// The options of `treadle train`, and the recipes that fill them in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/save_interval.h"
#include "cli/schedule_options.h"
#include "cli/settings_options.h"
#include "treadle/core/nearest_name.h"
#include "treadle/data/dataset.h"
#include "treadle/models/model.h"
#include "treadle/optim/optimizer.h"
#include "treadle/train/callbacks/profiler.h"

namespace treadle::cli {

/// What --augment takes, with a line of each kind.
std::string augmentation_summaries();
OptionCheck augmentation_list();
inline constexpr uint64_t kMostLoaderThreads = 256;

/// "mlp, lenet5; fast (fashion_cnn on fashion-mnist)": the names of --preset.
std::string preset_names();

struct TrainOptions : BindingSettings, DataOptions {
  std::string model, data = dataset_names().front(), optimizer = "adam", schedule = "cosine", preset, out,
                     config;
  std::vector<std::string> set, model_option;
  std::string test = "each", checkpoint_every = "300s";
  int64_t profile_steps = ProfilerOptions{}.steps;
  int64_t epochs = 5, batch_size = 32, limit_batches = 0, steps = 0, warm_up_steps = 0, accumulate = 1,
          early_stop = 0;
  std::string weight_decay;  ///< empty: that of the optimizer
  std::string augment, loader_threads = "auto", precision = "f32";
  double clip_norm = 0, ema = 0, label_smoothing = 0;
  bool decay_matrices_only = false;
  double learning_rate = 1e-3, validation = 0;
  ScheduleOptions of_schedule = default_schedule_options();
  uint64_t seed = 0;
  bool normalize = false, resume = false, overwrite = false, tensorboard = false, no_plots = false,
       find_lr = false, profile = false, json = false, quiet = false;

  static void describe(auto& field) {
    using O = TrainOptions;
    field("model", &O::model, joined_names(model_names()) + "; `treadle models` lists them",
          {.on_command_line = "MODEL", .required = true});
    field("data", &O::data, joined_names(dataset_names()) + ", or a folder or file",
          {.kept = Kept::renewable});
    DataOptions::describe(field);
    describe_recipe(field);
    describe_limits(field);
    describe_run_folder(field);
    BindingSettings::describe(field);
    field("json", &O::json, "One JSON object on the last line");
    field("quiet", &O::quiet, "Print nothing but errors and --json");
  }

 private:
  static void describe_recipe(auto& field) {
    using O = TrainOptions;
    field("epochs", &O::epochs, "Passes over the training images or the text",
          {.check = whole_number(1), .kept = Kept::renewable});
    field("batch_size", &O::batch_size, "Images, or windows of a text, per step",
          {.check = whole_number(1), .kept = Kept::fixed});
    field("optimizer", &O::optimizer, "Rule of the updates",
          {.check = one_of(known_optimizers()), .kept = Kept::fixed});
    field("learning_rate", &O::learning_rate, "Learning rate",
          {.on_command_line = "--lr", .check = number_from(0), .kept = Kept::fixed});
    field("schedule", &O::schedule, "Of the learning rate. " + schedule_summaries(),
          {.check = one_of(known_schedules()), .kept = Kept::fixed});
    describe_schedule_options(field, &O::of_schedule);
    field("warm_up_steps", &O::warm_up_steps, "Steps in which the learning rate rises before any schedule",
          {.check = whole_number(0), .kept = Kept::fixed, .kept_later = true});
    describe_step(field);
    field("preset", &O::preset, "A named recipe: " + preset_names(),
          {.kept = Kept::fixed, .kept_later = true});
    field("augment", &O::augment, augmentation_summaries(),
          {.check = augmentation_list(), .kept = Kept::fixed, .kept_later = true});
    field("label_smoothing", &O::label_smoothing,
          "So much of each label is spread evenly over all classes in the loss that is trained",
          {.check = number_between(0, 1), .kept = Kept::fixed, .kept_later = true});
    field(
        "loader_threads", &O::loader_threads,
        "Threads that make batches ahead of the step, which changes no result; auto: none where batches are "
        "made in no time or there is one core or thread, else one for each eight cores, one at least",
        {.check = automatic_or(whole_number(0, kMostLoaderThreads)),
         .kept = Kept::renewable,
         .kept_later = true});
    field("normalize", &O::normalize, "Subtract the mean of the training pixels, divide by their deviation",
          {.kept = Kept::fixed});
    field("model_option", &O::model_option,
          "NAME=VALUE: an option of the model, as `treadle models` lists them; may be repeated",
          {.kept = Kept::fixed, .kept_later = true});
  }

  static void describe_step(auto& field) {
    using O = TrainOptions;
    field("weight_decay", &O::weight_decay, "Weight decay of the optimizer, in place of its own",
          {.check = or_nothing(number_from(0)), .kept = Kept::fixed, .kept_later = true});
    field("decay_matrices_only", &O::decay_matrices_only,
          "No weight decay for parameters of one axis: biases, weights of normalisations",
          {.kept = Kept::fixed, .kept_later = true});
    field("clip_norm", &O::clip_norm, "Bound of the norm of all gradients together; 0: none",
          {.check = number_from(0), .kept = Kept::fixed, .kept_later = true});
    field("ema", &O::ema,
          "Evaluate and save a moving average of the weights, of which each step keeps this share; 0: none",
          {.check = number_between(0, 0.999999), .kept = Kept::fixed, .kept_later = true});
    field("precision", &O::precision,
          "What products are computed in while training: f32; bf16, or f16 with a loss that is scaled, while "
          "parameters stay f32",
          {.check = one_of({"f32", "bf16", "f16"}), .kept = Kept::fixed, .kept_later = true});
    field("accumulate", &O::accumulate, "Batches whose gradients are added up for one step",
          {.check = whole_number(1, 1 << 16), .kept = Kept::fixed, .kept_later = true});
  }

  static void describe_limits(auto& field) {
    using O = TrainOptions;
    field("seed", &O::seed,
          "Initial weights, the order of images, the validation part, and what is drawn of a data set",
          {.check = seed_number(), .kept = Kept::fixed});
    field("limit_batches", &O::limit_batches,
          "Stop each epoch after so many batches, and test on as many images; 0: no limit",
          {.check = whole_number(0), .default_shown = false, .kept = Kept::fixed});
    field("steps", &O::steps, "End the run after so many steps; 0: after all epochs",
          {.check = whole_number(0), .default_shown = false, .kept = Kept::fixed});
    field("validation", &O::validation,
          "Share of the training images to hold out; the epoch that is best on them becomes "
          "best.safetensors. 0: train on all, the last epoch counts",
          {.check = number_between(0, 0.99), .kept = Kept::fixed, .kept_later = true});
    field("early_stop", &O::early_stop,
          "End the run after so many epochs without a better one on the validation part; 0: never",
          {.check = whole_number(0), .default_shown = false, .kept = Kept::renewable, .kept_later = true});
    field("test", &O::test, "Print test figures after each epoch or the last; they choose nothing",
          {.check = one_of({"each", "last"}),
           .kept = Kept::renewable,
           .kept_later = true,
           .kept_as_earlier = "--validate"});
  }

  static void describe_run_folder(auto& field) {
    using O = TrainOptions;
    field("out", &O::out, "Run folder; default: a new one, runs/MODEL, runs/MODEL-2, …");
    field("checkpoint_every", &O::checkpoint_every,
          "Save between the ends of epochs, too: every so many steps, or seconds as in 30s; 0: never",
          {.check = save_interval(), .kept = Kept::renewable, .kept_later = true});
    field("tensorboard", &O::tensorboard,
          "Write event files for TensorBoard into the run folder: losses, figures, histograms of the "
          "parameters",
          {.kept = Kept::renewable, .kept_later = true});
    field("no_plots", &O::no_plots, "Draw no pictures into RUN/plots at the end",
          {.kept = Kept::renewable, .kept_later = true});
    field("profile", &O::profile,
          "Print at the end what each op of a step takes, and write a trace of the first steps, trace.json");
    field("profile_steps", &O::profile_steps, "How many steps --profile follows",
          {.check = whole_number(1, 10'000), .needs = {"--profile"}});
    field("config", &O::config, "Take settings from a file, such as the config.toml of another run");
    field("set", &O::set,
          "NAME=VALUE: a setting as config.toml calls it; goes before --config, may be repeated");
    field("resume", &O::resume, "Go on from last.safetensors in the run folder");
    field("overwrite", &O::overwrite, "Let a new run replace the one in --out, once it has something to save",
          {.excludes = {"--resume"}});
    field("find_lr", &O::find_lr,
          "Train no model: raise the learning rate for some 300 steps, suggest one, and write the curve into "
          "--out; "
          "default: runs/MODEL-lr",
          {.excludes = {"--resume"}});
  }
};

/// Sets what the preset says and the user did not give. Throws ValueError when the model has no such preset.
void apply_preset(const IsGiven& is_given, TrainOptions& options);

/// By their names. Throws ValueError for a text that is not NAME=VALUE, and a name that is given twice.
std::map<std::string, std::string> model_options_of(const TrainOptions& options);

/// With the names and values that options say. Throws ValueError for a decay of an optimizer that has none.
std::unique_ptr<Optimizer> optimizer_of(const TrainOptions& options, std::vector<NamedTensor> parameters);

/// Of the learning rate, in a run of so many steps and steps per epoch.
Schedule schedule_of(const TrainOptions& options, int64_t total_steps, int64_t steps_per_epoch);

/// Of --loader-threads; empty: the default number.
std::optional<int> loader_threads_in(const std::string& text);

/// Throws ValueError for names and values that no data set or device could make right.
void check(const TrainOptions& options);

}  // namespace treadle::cli
