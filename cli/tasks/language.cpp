#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "cli/format.h"
#include "cli/learning_tasks.h"
#include "treadle/core/error.h"
#include "treadle/data/fingerprint.h"
#include "treadle/data/text.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/train/class_loss.h"
#include "treadle/train/language/fit_language_model.h"
#include "treadle/train/language/text_windows.h"

namespace treadle::cli {
namespace {

void require_text(const std::string& data, const std::string& model) {
  const std::vector<std::string> known = dataset_names();
  require<ValueError>(std::find(known.begin(), known.end(), data) == known.end(),
                      "{} learns from a text, and {} is none; name a file of text with --data FILE", model,
                      data);
}

/// "loss 1.5000, perplexity 4.48, 2.164 bits per character"
std::string figures_text(const std::string& part, const TextEvaluation& found) {
  return fmt::format("{0} loss {1:.4f}, {0} perplexity {2:.3f}, {3:.3f} bits per character", part, found.loss,
                     found.perplexity(), found.bits_per_character());
}

/// Of the part its first character is not foretold, nor what is left behind the last whole window.
std::string share_text(const TextEvaluation& found, int64_t in_part) {
  return fmt::format("; {} of the {} characters were foretold", with_commas(found.characters),
                     with_commas(in_part));
}

void add_test_figures(Json& object, const TextEvaluation& test, int64_t in_part) {
  object.add("test_loss", test.loss);
  object.add("test_perplexity", test.perplexity());
  object.add("test_bits_per_character", test.bits_per_character());
  object.add("test_characters", test.characters);
  object.add("characters_in_test_part", in_part);
}

/// A text, of which the next character is learnt.
class Language final : public TrainTask {
 public:
  void load(const TrainOptions& o) override {
    require_text(o.data, o.model);
    for (const auto& [given, option] :
         {std::pair(o.normalize, "--normalize"), std::pair(!o.augment.empty(), "--augment"),
          std::pair(o.label_smoothing > 0, "--label-smoothing")})
      require<ValueError>(!given, "{} is for images; {} learns from a text", option, o.model);
    text_ = load_text(o.data, {.block = o.block});
  }

  std::string fingerprint() const override { return treadle::fingerprint(text_); }
  void hold_out(double share, uint64_t) override { treadle::hold_out(text_, share); }
  void describe(const TrainOptions&, Checkpoint& description) const override {
    description.classes = text_.vocabulary.characters();
    description.input = {text_.block};
  }

  int64_t training_examples() const override { return TextWindows(text_.train, text_.block, 0, kCpu).size(); }
  DataUnit unit() const override { return {"characters", text_.block}; }
  std::string sizes() const override {
    const auto count = [](const std::vector<int32_t>& part) { return with_commas(int64_t(part.size())); };
    const auto& held_out = text_.validation;
    return fmt::format("{} training{} and {} test characters of {} kinds, in windows of {}",
                       count(text_.train),
                       held_out.empty() ? "" : fmt::format(", {} validation", count(held_out)),
                       count(text_.test), text_.vocabulary.size(), text_.block);
  }
  BestBy best_by() const override { return {"loss", false}; }

  FitResult fit(Module& model, Optimizer& optimizer, const Schedule& schedule,
                const TaskOptions& options) override {
    return fit_language_model(model, optimizer, schedule, text_, options);
  }
  LearningRateCurve find_learning_rate(Module& model, Optimizer& optimizer, const TaskOptions& options,
                                       LearningRateSearch search) override {
    return find_language_learning_rate(model, optimizer, text_, options, std::move(search));
  }

  std::string report(const FitResult& result) const override {
    const TextEvaluation test = text_evaluation_of(result.test);
    std::string text;
    if (result.best_epoch > 0)
      text =
          fmt::format("{}, the best, after epoch {}\n",
                      figures_text("validation", text_evaluation_of(result.validation)), result.best_epoch);
    return text + figures_text("test", test) + share_text(test, int64_t(text_.test.size())) + "\n";
  }

  void add_figures(Json& object, const FitResult& result) const override {
    Json validation_loss;
    if (result.best_epoch > 0) validation_loss = result.validation["loss"];
    object.add("validation_loss", validation_loss);
    add_test_figures(object, text_evaluation_of(result.test), int64_t(text_.test.size()));
    object.add("characters_per_second", result.examples_per_second * double(text_.block));
  }

 private:
  TextDataset text_;
};

EvalAnswer evaluate_language(LoadedModel& model, const EvalRequest& request) {
  const Checkpoint& c = model.checkpoint;
  require_text(request.data, c.model);
  require<ValueError>(!request.confusion,
                      "--confusion needs a model that tells classes of images; {} learns {}", c.model,
                      model_info(c.model).task);
  const Vocabulary vocabulary(c.classes);
  const TextDataset text = load_text(request.data, {.block = c.input[0], .vocabulary = &vocabulary});
  model.module->to(request.device);
  const TextEvaluation test = TextEvaluator(*model.module)(
      text.test, text.block, request.device, request.batch_size, request.limit_batches * request.batch_size);
  require<FormatError>(std::isfinite(test.loss), "{}: the loss on {} is {}; its weights are too large",
                       model.file.string(), request.data, test.loss);
  const auto in_part = int64_t(text.test.size());
  Json object = {{"checkpoint", request.checkpoint}, {"model", c.model}, {"data", request.data}};
  add_test_figures(object, test, in_part);
  return {figures_text("test", test) + share_text(test, in_part) + "\n", object};
}

/// The characters of a model, where it has some.
TextDataset text_for(const StepData& request) {
  require_text(request.data, request.model);
  if (!request.checkpoint) return load_text(request.data);
  const Vocabulary vocabulary(request.checkpoint->classes);
  return load_text(request.data, {.block = request.checkpoint->input[0], .vocabulary = &vocabulary});
}

/// Windows side by side.
class WindowExamples final : public StepExamples {
 public:
  explicit WindowExamples(const StepData& request)
      : text_(text_for(request)), windows_(text_.train, text_.block, 0, kCpu) {}

  std::string unit() const override { return "windows"; }
  int64_t size() const override { return windows_.size(); }
  ModelTask model_task() const override { return {{text_.block}, text_.vocabulary.size()}; }
  std::vector<Tensor> batch(std::span<const int64_t> indices, Device device) const override {
    std::vector<Tensor> batch = windows_.batch(indices);
    for (Tensor& tensor : batch) tensor = to(tensor, device);
    return batch;
  }
  std::function<Tensor(std::span<const Tensor>)> loss(Module& model) const override {
    return [&model](std::span<const Tensor> batch) { return class_loss(model(batch[0]), batch[1]); };
  }

 private:
  TextDataset text_;
  TextWindows windows_;
};

}  // namespace

void register_tasks_language(LearningTasks& tasks) {
  tasks.add({.name = "language",
             .train = [] { return std::make_unique<Language>(); },
             .evaluate = evaluate_language,
             .examples = [](const StepData& request) { return std::make_unique<WindowExamples>(request); }});
}

}  // namespace treadle::cli
