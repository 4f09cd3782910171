#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>

#include "cli/format.h"
#include "cli/given_settings.h"
#include "cli/interruption.h"
#include "cli/learning_rate_report.h"
#include "cli/learning_tasks.h"
#include "cli/measuring_note.h"
#include "cli/progress.h"
#include "cli/saved_settings.h"
#include "cli/standard_output.h"
#include "cli/terminal_line.h"
#include "cli/train_callbacks.h"
#include "cli/train_config.h"
#include "cli/train_options.h"
#include "cli/train_report.h"
#include "treadle/core/error.h"
#include "treadle/models/model.h"

namespace treadle::cli {
namespace {

namespace fs = std::filesystem;

const auto process_start = std::chrono::steady_clock::now();

constexpr const char* kFingerprint = "fingerprint";  ///< among a checkpoint's settings: that of its data

double seconds_since_start() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - process_start).count();
}

/// Whether `name` is that of a folder which a run of the model gets without --out.
bool is_default_name(const std::string& name, const std::string& model) {
  if (name == model) return true;
  if (!name.starts_with(model + "-")) return false;
  std::string_view number = std::string_view(name).substr(model.size() + 1);
  return !number.empty() && number.find_first_not_of("0123456789") == number.npos;
}

bool has_state(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "last.safetensors", ignored);
}

/// The only run of the model that --resume without --out can mean.
std::string only_run_of(const std::string& model) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (fs::directory_iterator entry("runs", ignored), end; !ignored && entry != end; entry.increment(ignored))
    if (is_default_name(entry->path().filename(), model) && has_state(entry->path()))
      found.push_back(entry->path().string());
  std::sort(found.begin(), found.end());
  require<FileError>(!found.empty(),
                     "there is no run of {} below runs/ to resume; name its folder with --out", model);
  std::string names;
  for (const std::string& name : found) names += " " + name;
  require<ValueError>(found.size() == 1, "there are several runs of {}:{}; name one with --out", model,
                      names);
  return found.front();
}

/// One run of `treadle train`. Everything is checked before the run folder is touched.
class Training {
 public:
  Training(const IsGiven& is_given, TrainOptions options)
      : o_(std::move(options)),
        is_given_(apply_given_settings(is_given, o_)),
        task_(learning_task_of(o_.model).train()) {}

  int run() {
    prepare();
    if (o_.find_lr) return find_rate();
    prepare_folder();
    TrainingRun run{o_, *task_, device_, model_->parameter_count(), o_.out};
    if (!o_.quiet) announce(run);
    const std::stop_token stop = stop_on_signals();
    MeasuringNote note(on_terminal() && !o_.quiet, stop);
    FitResult result = task_->fit(*model_, *optimizer_, schedule(), fit_options(stop));
    if (result.interrupted) return interrupted(run, result);
    if (!o_.quiet) report(run, result, seconds_since_start());
    if (o_.json) print_json(json_of(run, result, seconds_since_start()));
    return kSuccess;
  }

 private:
  void prepare() {
    apply_preset(is_given_, o_);
    o_.data = lasting_name(o_.data);
    check(o_);
    if (o_.resume) take_up();
    if (!o_.resume && !o_.find_lr && !o_.out.empty()) refuse_used_folder();
    device_ = apply_run_settings(o_);
    prepare_data();
    default_generator().set_seed(o_.seed);
    description_ = describe();
    model_ = make_model(o_.model, task_of(description_), o_.seed);
    model_->to(device_);
    optimizer_ = optimizer_of(o_, model_->named_parameters());
    if (o_.ema > 0) average_.emplace(*model_, o_.ema);
    if (o_.precision == "f16") scaler_.emplace(LossScalerOptions(), device_);
    progress_.emplace(o_.quiet, on_terminal(), task_->unit());
  }

  void prepare_folder() {
    if (!o_.resume) take_new_folder();
    folder_->set_config(config_text(o_, device_));
    callbacks_ = train_callbacks().make(
        {o_, *folder_, task_->best_by(), task_->images(), description_.normalization, device_});
  }

  void take_up() {
    if (o_.out.empty()) o_.out = only_run_of(o_.model);
    require<FileError>(has_state(o_.out),
                       "{} holds no last.safetensors to resume; leave out --resume to start a new run",
                       o_.out);
    folder_ = std::make_unique<RunFolder>(o_.out);
    resumed_ = load_checkpoint(folder_->last_file());
    continue_with(is_given_, resumed_, o_);
  }

  void refuse_used_folder() const {
    require<ValueError>(o_.overwrite || !RunFolder::holds_run(o_.out),
                        "{} holds a run already: go on with it by --resume, replace it by --overwrite, or "
                        "choose another --out",
                        o_.out);
  }

  void take_new_folder() {
    if (o_.out.empty()) {
      folder_ = RunFolder::make_new(fs::path("runs") / o_.model);
      o_.out = folder_->path().string();
    } else {
      folder_ = std::make_unique<RunFolder>(o_.out);
      refuse_used_folder();  // another process may have been faster
    }
  }

  void prepare_data() {
    load_data();
    fingerprint_ = task_->fingerprint();
    if (o_.resume) check_same_data();
    if (o_.validation > 0) task_->hold_out(o_.validation, o_.seed);
  }

  void load_data() {
    if (!o_.resume || is_given_("--data")) return task_->load(o_);
    try {
      task_->load(o_);
    } catch (const DatasetAbsent& error) {
      throw DatasetAbsent(moved_text(error));
    } catch (const ValueError& error) {
      throw DatasetAbsent(moved_text(error));
    }
  }

  std::string moved_text(const Error& error) const {
    return fmt::format("{}. The run in {} was trained on it: name its new place with --data", error.what(),
                       o_.out);
  }

  /// The run goes on with the data it began with, wherever they lie now, and with their classes' names.
  void check_same_data() {
    auto before = resumed_.training.find(kFingerprint);
    if (before != resumed_.training.end() && before->second != fingerprint_)
      throw FormatError(
          fmt::format("{} is not the data set that {} was trained on: it has {}; the run has {}", o_.data,
                      o_.out, fingerprint_, before->second));
    task_->take_classes(resumed_.classes);
  }

  Checkpoint describe() const {
    Checkpoint description;
    description.model = o_.model;
    description.model_options = model_options_of(o_);
    description.dataset = o_.data;
    task_->describe(o_, description);
    description.training = remembered(o_);
    description.training[kFingerprint] = fingerprint_;
    return description;
  }

  Schedule schedule() const {
    BatchSampler sampler(task_->training_examples(), examples_per_step(), o_.seed);
    int64_t in_epoch = sampler.batches_per_epoch();
    if (o_.limit_batches > 0) in_epoch = std::min(in_epoch, o_.limit_batches);
    int64_t steps = in_epoch * o_.epochs;
    if (o_.steps > 0) steps = std::min(steps, o_.steps);
    return schedule_of(o_, steps, in_epoch);
  }

  int64_t examples_per_step() const { return o_.batch_size * o_.accumulate; }

  TaskOptions fit_options(std::stop_token stop) {
    TaskOptions fit;
    fit.epochs = o_.epochs;
    fit.batch_size = examples_per_step();
    fit.step = {.parts = o_.accumulate, .clip_norm = o_.clip_norm, .precision = dtype_named(o_.precision)};
    fit.average = average_ ? &*average_ : nullptr;
    fit.scaler = scaler_ ? &*scaler_ : nullptr;
    fit.step.scaler = fit.scaler;
    fit.seed = o_.seed;
    fit.device = device_;
    fit.limit_batches = o_.limit_batches;
    fit.max_steps = o_.steps;
    fit.save_every = read_save_interval(o_.checkpoint_every);
    fit.test_last_only = o_.test == "last";
    fit.folder = folder_.get();
    fit.description = description_;
    fit.resume = o_.resume ? &resumed_ : nullptr;
    fit.stop = stop;
    fit.callbacks.push_back(&*progress_);
    for (const auto& callback : callbacks_) fit.callbacks.push_back(callback.get());
    return fit;
  }

  /// Trains nothing that stays; a run folder is only where the curve goes.
  int find_rate() {
    const std::stop_token stop = stop_on_signals();
    MeasuringNote note(on_terminal() && !o_.quiet, stop);
    LearningRateSearch search;
    if (on_terminal() && !o_.quiet)
      search.on_step = [&](int64_t step) {
        draw_terminal_line(fmt::format("step {} of at most {}", step, search.steps));
      };
    const LearningRateCurve curve =
        task_->find_learning_rate(*model_, *optimizer_, fit_options(stop), search);
    if (search.on_step) clear_terminal_line();
    if (stop.stop_requested()) {
      print_error("treadle: interrupted; nothing was written");
      return kInterrupted;
    }
    const fs::path folder = o_.out.empty() ? fs::path("runs") / (o_.model + "-lr") : fs::path(o_.out);
    write_curve(curve, folder);
    if (!o_.quiet)
      fmt::print("{}\nthe curve is in {}/learning_rate.csv and .svg\n", suggestion_text(curve),
                 folder.string());
    if (o_.json) print_json(json_of(curve));
    return kSuccess;
  }

  int interrupted(const TrainingRun& run, const FitResult& result) const {
    print_error("treadle: " + interruption_text(run, result));
    return kInterrupted;
  }

  TrainOptions o_;
  IsGiven is_given_;
  std::unique_ptr<TrainTask> task_;
  std::optional<Progress> progress_;
  std::unique_ptr<RunFolder> folder_;
  std::vector<std::unique_ptr<Callback>> callbacks_;
  Checkpoint resumed_, description_;
  Device device_;
  std::string fingerprint_;
  std::shared_ptr<Module> model_;
  std::unique_ptr<Optimizer> optimizer_;
  std::optional<WeightAverage> average_;
  std::optional<LossScaler> scaler_;
};

int run(const TrainOptions& options, const IsGiven& is_given) { return Training(is_given, options).run(); }

}  // namespace

void register_train(Commands& commands) {
  commands.add(
      {.place = 1,
       .name = "train",
       .description = "Train a model and save checkpoints",
       .example = "treadle train fashion_cnn --epochs 5 --optimizer adam --lr 1e-3 --schedule cosine"},
      run);
}

}  // namespace treadle::cli
