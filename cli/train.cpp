#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <toml++/toml.h>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stop_token>

#include "cli/class_table.h"
#include "cli/command.h"
#include "cli/format.h"
#include "cli/measuring_note.h"
#include "cli/option_checks.h"
#include "cli/progress.h"
#include "cli/settings_options.h"
#include "cli/standard_output.h"
#include "treadle/core/allocator.h"
#include "treadle/core/error.h"
#include "treadle/core/parallel_for.h"
#include "treadle/core/version.h"
#include "treadle/data/pixel_statistics.h"
#include "treadle/formats/file.h"
#include "treadle/models/model.h"
#include "treadle/train/fit.h"

namespace treadle::cli {
namespace {

const auto process_start = std::chrono::steady_clock::now();

struct Options {
  std::string model, data = "fashion-mnist", optimizer = "adam", schedule = "cosine", preset, out;
  std::string validate = "each";
  int64_t epochs = 5, batch_size = 32, limit_batches = 0, max_steps = 0;
  double learning_rate = 1e-3, warm_up = Schedule::kWarmUp;
  uint64_t seed = 0;
  bool normalize = false, resume = false, json = false, quiet = false;
  RunSettings settings;
};

std::stop_source stop_source;

/// The first ^C asks the loop to stop; the second one ends the process as usual. request_stop() without
/// callbacks is a few lock-free atomic operations, so the handler may call it.
void stop_on_interrupt() {
  struct sigaction action {};
  action.sa_handler = [](int) { stop_source.request_stop(); };
  action.sa_flags = int(SA_RESETHAND) | SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

/// A recipe for one model, or for all when `model` is empty. Without `data` it leaves the data set alone.
struct Preset {
  std::string_view name, model;
  const char *data, *optimizer, *schedule;
  double learning_rate, warm_up;
  int64_t epochs, batch_size, max_steps;
  bool normalize;
  const char* validate;
};
constexpr Preset kPresets[] = {
    {"baseline", "", "", "adam", "cosine", 1e-3, Schedule::kWarmUp, 5, 32, 0, false, "each"},
    {"fast", "fashion_cnn", "fashion-mnist", "adam", "one-cycle", 1.5e-3, 0.2, 3, 48, 3500, true, "last"},
    {"fast", "mnist_cnn", "mnist", "adam", "one-cycle", 4e-3, 0.2, 2, 32, 3000, true, "last"},
};

const Preset& find_preset(const std::string& name, const std::string& model) {
  std::string known;
  for (const Preset& preset : kPresets) {
    if (!preset.model.empty() && preset.model != model) continue;
    if (preset.name == name) return preset;
    known += fmt::format(" {}", preset.name);
  }
  throw ValueError(fmt::format("{} has no preset called '{}'; known are:{}", model, name, known));
}

/// Values of a preset, where the user gave none.
void apply_preset(const CLI::App& app, Options& options) {
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
  take("--validate", options.validate, preset.validate);
}

/// What a checkpoint remembers of the command line, so that --resume goes on with it: option → value.
std::map<std::string, std::string> remembered(const Options& o) {
  std::string variants;
  for (const std::string& variant : o.settings.variants) variants += (variants.empty() ? "" : " ") + variant;
  return {{"--optimizer", o.optimizer},
          {"--schedule", o.schedule},
          {"--lr", fmt::format("{}", o.learning_rate)},
          {"--warm-up", fmt::format("{}", o.warm_up)},
          {"--epochs", fmt::format("{}", o.epochs)},
          {"--batch-size", fmt::format("{}", o.batch_size)},
          {"--limit-batches", fmt::format("{}", o.limit_batches)},
          {"--steps", fmt::format("{}", o.max_steps)},
          {"--validate", o.validate},
          {"--normalize", o.normalize ? "true" : "false"},
          {"--seed", fmt::format("{}", o.seed)},
          {"--data", o.data},
          {"--device", o.settings.device},
          {"--engine", o.settings.engine},
          {"--threads", fmt::format("{}", num_threads())},
          {"--variant", variants},
          {"--deterministic", o.settings.deterministic ? "true" : "false"}};
}

/// The settings of a run that is resumed, read from its checkpoint.
class SavedSettings {
 public:
  SavedSettings(const CLI::App& app, const Options& given, const Checkpoint& from)
      : app_(app), given_(remembered(given)), from_(from), file_(given.out + "/last.safetensors") {}

  /// The saved value of an option. One given again must not differ: ValueError.
  std::string text(const std::string& option) const {
    auto found = from_.training.find(option);
    require<FormatError>(found != from_.training.end(), "{} lacks the setting {}; it cannot be resumed",
                         file_, option);
    bool may_differ = option == "--epochs" || option == "--device" || option == "--threads";
    if (app_.count(option) && may_differ) return given_.at(option);
    require<ValueError>(!app_.count(option) || found->second == given_.at(option),
                        "{} {} differs from the run to resume, which has {}", option, given_.at(option),
                        found->second);
    return found->second;
  }

  template <class Number>
  Number number(const std::string& option) const {
    std::istringstream stream(text(option));
    Number value{};
    stream >> value;
    require<FormatError>(!stream.fail() && stream.eof() && value >= 0,
                         "{} has {} '{}', which is not a number", file_, option, text(option));
    return value;
  }

 private:
  const CLI::App& app_;
  std::map<std::string, std::string> given_;
  const Checkpoint& from_;
  std::string file_;
};

/// Takes the settings of the run that is resumed; only epochs, device and threads may be given anew.
void continue_with(const CLI::App& app, const Checkpoint& from, Options& o) {
  require<ValueError>(from.model == o.model, "{}/last.safetensors holds the model {}, not {}", o.out,
                      from.model, o.model);
  SavedSettings saved(app, o, from);
  o.optimizer = saved.text("--optimizer");
  o.schedule = saved.text("--schedule");
  o.data = saved.text("--data");
  o.learning_rate = saved.number<double>("--lr");
  o.warm_up = saved.number<double>("--warm-up");
  o.batch_size = std::max<int64_t>(saved.number<int64_t>("--batch-size"), 1);
  o.limit_batches = saved.number<int64_t>("--limit-batches");
  o.max_steps = saved.number<int64_t>("--steps");
  o.validate = saved.text("--validate");
  o.normalize = saved.text("--normalize") == "true";
  o.seed = saved.number<uint64_t>("--seed");
  o.epochs = saved.number<int64_t>("--epochs");
  o.settings.device = saved.text("--device");
  o.settings.engine = saved.text("--engine");
  o.settings.threads = saved.number<int>("--threads");
  o.settings.deterministic = saved.text("--deterministic") == "true";
  o.settings.variants.clear();
  std::istringstream variants(saved.text("--variant"));
  for (std::string variant; variants >> variant;) o.settings.variants.push_back(variant);
}

/// Names a run, so that --resume does not take an earlier run's checkpoint in the same folder for this one's.
std::string new_run_name() {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("{:x}-{}", std::chrono::duration_cast<std::chrono::microseconds>(now).count(), getpid());
}

/// The run that config.toml in the folder speaks of; empty when there is none.
std::string run_in_config(const std::string& folder) {
  auto path = std::filesystem::path(folder) / "config.toml";
  if (!std::filesystem::exists(path)) return "";
  try {
    return toml::parse_file(path.string())["run"].value_or(std::string());
  } catch (const toml::parse_error& error) {
    throw FormatError(fmt::format("{}: {}", path.string(), error.description()));
  }
}

void write_config(const Options& o, Device device, const std::string& run) {
  toml::table config{{"run", run},
                     {"model", o.model},
                     {"data", o.data},
                     {"device", to_string(device)},
                     {"epochs", o.epochs},
                     {"batch_size", o.batch_size},
                     {"optimizer", o.optimizer},
                     {"learning_rate", o.learning_rate},
                     {"schedule", o.schedule},
                     {"warm_up", o.warm_up},
                     {"normalize", o.normalize},
                     {"seed", int64_t(o.seed)},
                     {"threads", num_threads()},
                     {"deterministic", o.settings.deterministic},
                     {"limit_batches", o.limit_batches},
                     {"steps", o.max_steps},
                     {"treadle", version()}};
  std::ostringstream text;
  text << config << "\n";
  write_file_atomically(std::filesystem::path(o.out) / "config.toml",
                        [&](FileWriter& file) { file.write(text.str()); });
}

void append_metrics(const Options& o, const EpochReport& report) {
  nlohmann::json line = {{"epoch", report.epoch},
                         {"train_loss", report.train_loss},
                         {"seconds", report.seconds},
                         {"learning_rate", report.learning_rate}};
  if (!report.validation.total.empty()) {
    line["test_loss"] = report.validation.loss;
    line["test_accuracy"] = report.validation.accuracy;
  }
  auto path = std::filesystem::path(o.out) / "metrics.jsonl";
  std::ofstream file(path, std::ios::app);
  file << line.dump() << std::endl;
  if (!file) throw FileError(fmt::format("{} cannot be written; is the disk full?", path.string()));
}

/// One run of `treadle train`.
class Training {
 public:
  Training(const CLI::App& app, Options options)
      : app_(app), o_(std::move(options)), progress_(o_.quiet, on_terminal()) {}

  int run() {
    prepare();
    stop_on_interrupt();
    MeasuringNote note(on_terminal() && !o_.quiet, stop_source.get_token());
    FitResult result = fit(*model_, *optimizer_, schedule(), data_, fit_options());
    progress_.clear();
    if (result.interrupted) return report_interruption(result);
    report(result);
    return kSuccess;
  }

 private:
  void prepare() {
    apply_preset(app_, o_);
    const ModelInfo& info = model_info(o_.model);
    if (o_.out.empty()) o_.out = "runs/" + o_.model;
    if (o_.resume) {
      resumed_ = load_checkpoint(std::filesystem::path(o_.out) / "last.safetensors");
      continue_with(app_, resumed_, o_);
      run_name_ = resumed_.training["run"];
      std::string current = run_in_config(o_.out);
      require<FormatError>(
          current.empty() || current == run_name_,
          "{}/last.safetensors belongs to an earlier run; the run in config.toml has not saved a state yet",
          o_.out);
    }
    device_ = apply_run_settings(o_.settings);
    data_ = load_dataset(o_.data);
    require<ShapeError>(data_.train.image_shape == info.input, "images of {} have shape {}, {} expects {}",
                        o_.data, to_string(data_.train.image_shape), o_.model, to_string(info.input));
    require<FormatError>(int64_t(data_.train.classes.size()) == info.classes, "{} has {} classes, {} has {}",
                         o_.data, data_.train.classes.size(), o_.model, info.classes);
    model_ = make_model(o_.model, o_.seed);
    model_->to(device_);
    optimizer_ = make_optimizer(o_.optimizer, model_->named_parameters(), o_.learning_rate);
    make_folder();
    announce();
  }

  void make_folder() {
    std::error_code error;
    std::filesystem::create_directories(o_.out, error);
    require<FileError>(!error, "{} cannot be created: {}", o_.out, error.message());
    if (!o_.resume) std::filesystem::remove(std::filesystem::path(o_.out) / "metrics.jsonl", error);
    write_config(o_, device_, run_name_);
  }

  Schedule schedule() const {
    BatchSampler sampler(data_.train.size(), o_.batch_size, o_.seed);
    int64_t steps = sampler.batches_per_epoch();
    if (o_.limit_batches > 0) steps = std::min(steps, o_.limit_batches);
    steps *= o_.epochs;
    if (o_.max_steps > 0) steps = std::min(steps, o_.max_steps);
    return Schedule::named(o_.schedule, o_.learning_rate, steps, o_.warm_up);
  }

  FitOptions fit_options() {
    FitOptions fit;
    fit.epochs = o_.epochs;
    fit.batch_size = o_.batch_size;
    fit.seed = o_.seed;
    fit.device = device_;
    fit.limit_batches = o_.limit_batches;
    fit.max_steps = o_.max_steps;
    fit.validate_last_only = o_.validate == "last";
    fit.folder = o_.out;
    fit.description.model = o_.model;
    fit.description.classes = data_.train.classes;
    fit.description.input = data_.train.image_shape;
    fit.description.dataset = o_.data;
    if (o_.normalize) fit.description.normalization = measure_normalization(data_.train);
    fit.description.training = remembered(o_);
    fit.description.training["run"] = run_name_;
    fit.resume = o_.resume ? &resumed_ : nullptr;
    fit.stop = stop_source.get_token();
    fit.on_step = [this](const StepReport& report) {
      images_ = report.images_done;
      progress_.step(report);
    };
    fit.on_epoch = [this](const EpochReport& report) {
      append_metrics(o_, report);
      progress_.epoch(report, images_);
    };
    return fit;
  }

  void announce() const {
    if (o_.quiet) return;
    fmt::print("{}: {} parameters, on {} ({} threads)\n", o_.model, with_commas(model_->parameter_count()),
               to_string(device_), num_threads());
    fmt::print("{}: {} training and {} test images\n", o_.data, with_commas(data_.train.size()),
               with_commas(data_.test.size()));
    fmt::print("{} epoch{}, batch {}, {}, learning rate {} {}, seed {}\n", o_.epochs,
               o_.epochs == 1 ? "" : "s", o_.batch_size, o_.optimizer, o_.learning_rate, o_.schedule,
               o_.seed);
    std::fflush(stdout);
  }

  int report_interruption(const FitResult& result) const {
    fmt::print(stderr,
               "treadle: interrupted after {} steps; the state is in {}/last.safetensors. Go on with: "
               "treadle train {} --resume --out {}\n",
               result.steps_done, o_.out, o_.model, o_.out);
    return kInterrupted;
  }

  void report(const FitResult& result) const {
    double total = std::chrono::duration<double>(std::chrono::steady_clock::now() - process_start).count();
    if (!o_.quiet) {
      fmt::print("\n{}", class_table(data_.test.classes, result.validation));
      fmt::print("\ntest accuracy {} ({:.4f}), test loss {:.4f}\n", percent(result.validation.accuracy),
                 result.validation.accuracy, result.validation.loss);
      fmt::print(
          "{} images/s (median step), {:.1f} s training, {:.1f} s in all\nsaved in {}/best.safetensors and "
          "last.safetensors\n",
          with_commas(int64_t(result.images_per_second)), result.train_seconds, total, o_.out);
    }
    if (o_.json) print_json(json_of(result, total));
  }

  nlohmann::json json_of(const FitResult& result, double total_seconds) const {
    return {{"model", o_.model},
            {"device", to_string(device_)},
            {"data", o_.data},
            {"epochs", o_.epochs},
            {"batch_size", o_.batch_size},
            {"seed", o_.seed},
            {"test_accuracy", result.validation.accuracy},
            {"test_loss", result.validation.loss},
            {"train_seconds", result.train_seconds},
            {"total_seconds", total_seconds},
            {"images_per_second", result.images_per_second},
            {"parameters", model_->parameter_count()},
            {"peak_memory_bytes", peak_memory_bytes()},
            {"allocator_peak_bytes", allocator(device_).statistics().peak_bytes},
            {"losses", result.losses},
            {"checkpoint", o_.out + "/best.safetensors"}};
  }

  const CLI::App& app_;
  Options o_;
  Progress progress_;
  Checkpoint resumed_;
  std::string run_name_ = new_run_name();
  Device device_;
  DatasetSplits data_;
  std::shared_ptr<Module> model_;
  std::unique_ptr<Optimizer> optimizer_;
  int64_t images_ = 0;
};

}  // namespace

Action add_train(CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("MODEL", o->model, "mlp, lenet5, fashion_cnn, mnist_cnn; `treadle models` lists them")
      ->required();
  app.add_option("--data", o->data, "fashion-mnist, mnist, cifar-10 or a folder")->capture_default_str();
  app.add_option("--epochs", o->epochs, "Passes over the training images")
      ->transform(whole_number(1))
      ->capture_default_str();
  app.add_option("--batch-size", o->batch_size, "Images per step")
      ->transform(whole_number(1))
      ->capture_default_str();
  app.add_option("--optimizer", o->optimizer, "Rule of the updates")
      ->check(one_of(known_optimizers()))
      ->capture_default_str();
  app.add_option("--lr", o->learning_rate, "Learning rate")->check(number_from(0))->capture_default_str();
  app.add_option("--schedule", o->schedule,
                 "constant; cosine, linear: to 0 over all steps; one-cycle: a linear rise first")
      ->check(one_of(known_schedules()))
      ->capture_default_str();
  app.add_option("--warm-up", o->warm_up, "Share of the steps in which one-cycle rises")
      ->check(number_between(0, 0.99))
      ->capture_default_str();
  app.add_option("--preset", o->preset,
                 "A named recipe: baseline; fast (fashion_cnn on Fashion-MNIST, mnist_cnn on MNIST)");
  app.add_flag("--normalize", o->normalize,
               "Subtract the mean of the training pixels, divide by their deviation");
  app.add_option("--seed", o->seed, "Initial weights and the order of images")
      ->transform(seed_number())
      ->capture_default_str();
  app.add_option("--limit-batches", o->limit_batches, "Stop each epoch after so many batches; 0: no limit")
      ->transform(whole_number(0));
  app.add_option("--steps", o->max_steps, "End the run after so many steps; 0: after all epochs")
      ->transform(whole_number(0));
  app.add_option("--validate", o->validate, "After each epoch, or once after the last: each or last")
      ->check(one_of({"each", "last"}))
      ->capture_default_str();
  app.add_option("--out", o->out, "Run folder; default runs/MODEL");
  app.add_flag("--resume", o->resume, "Go on from last.safetensors in the run folder");
  add_run_settings(app, o->settings);
  add_binding(app, o->settings);
  app.add_flag("--json", o->json, "One JSON object on the last line");
  app.add_flag("--quiet", o->quiet, "Print nothing but errors and --json");
  app.footer("Example: treadle train fashion_cnn --epochs 5 --optimizer adam --lr 1e-3 --schedule cosine");
  return [o, &app] { return Training(app, *o).run(); };
}

}  // namespace treadle::cli
