#include "cli/saved_settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "treadle/core/error.h"

namespace treadle::cli {
namespace {

const std::set<std::string> kMayDiffer = {"--epochs", "--device", "--threads", "--data", "--test"};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find(' ', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

/// The settings of a run that is resumed, read from its checkpoint.
class SavedSettings {
 public:
  SavedSettings(const CLI::App& app, const TrainOptions& given, const Checkpoint& from)
      : app_(app), given_(remembered(given)), from_(from), file_(given.out + "/last.safetensors") {}

  /// The value to go on with: the saved one, or for options that may differ the one given again.
  std::string text(const std::string& option) const {
    auto found = from_.training.find(option);
    require<FormatError>(found != from_.training.end(), "{} lacks the setting {}; it cannot be resumed",
                         file_, option);
    return text(option, found->second);
  }
  /// The same for an option that earlier versions did not have and that then was `otherwise`.
  std::string text(const std::string& option, const std::string& otherwise) const {
    auto found = from_.training.find(option);
    const std::string& saved = found == from_.training.end() ? otherwise : found->second;
    if (!app_.count(option)) return saved;
    const std::string& given = given_.at(option);
    require<ValueError>(kMayDiffer.count(option) || saved == given,
                        "{} {} differs from the run to resume, which has {}", option, given,
                        saved.empty() ? "none" : saved);
    return given;
  }

  bool flag(const std::string& option) const { return text(option) == "true"; }
  bool flag(const std::string& option, bool otherwise) const {
    return text(option, otherwise ? "true" : "false") == "true";
  }
  template <class Number>
  Number number(const std::string& option) const {
    return parsed<Number>(option, text(option));
  }
  template <class Number>
  Number number(const std::string& option, const std::string& otherwise) const {
    return parsed<Number>(option, text(option, otherwise));
  }

 private:
  template <class Number>
  Number parsed(const std::string& option, const std::string& text) const {
    Number value{};
    const char* end = text.data() + text.size();
    auto [stop, error] = std::from_chars(text.data(), end, value);
    require<FormatError>(error == std::errc() && stop == end && std::isfinite(double(value)) && value >= 0,
                         "{} has {} '{}', which is not a number", file_, option, text);
    return value;
  }

  const CLI::App& app_;
  std::map<std::string, std::string> given_;
  const Checkpoint& from_;
  std::string file_;
};

void take_settings(const SavedSettings& saved, RunSettings& settings) {
  settings.device = saved.text("--device");
  settings.engine = saved.text("--engine");
  settings.threads = saved.number<int>("--threads");
  settings.deterministic = saved.flag("--deterministic");
  settings.keep_subnormals = saved.flag("--keep-subnormals", false);
  settings.variants = split(saved.text("--variant"));
}

}  // namespace

std::map<std::string, std::string> remembered(const TrainOptions& o) {
  auto text = [](auto number) { return fmt::format("{}", number); };
  return {{"--optimizer", o.optimizer},
          {"--schedule", o.schedule},
          {"--lr", text(o.learning_rate)},
          {"--warm-up", text(o.warm_up)},
          {"--epochs", text(o.epochs)},
          {"--batch-size", text(o.batch_size)},
          {"--limit-batches", text(o.limit_batches)},
          {"--steps", text(o.max_steps)},
          {"--validation", text(o.validation)},
          {"--test", o.test},
          {"--normalize", text(o.normalize)},
          {"--seed", text(o.seed)},
          {"--data", o.data},
          {"--preset", o.preset},
          {"--device", o.settings.device},
          {"--engine", o.settings.engine},
          {"--threads", text(o.settings.threads)},
          {"--variant", joined(o.settings.variants)},
          {"--deterministic", text(o.settings.deterministic)},
          {"--keep-subnormals", text(o.settings.keep_subnormals)}};
}

void continue_with(const CLI::App& app, const Checkpoint& from, TrainOptions& o) {
  require<ValueError>(from.model == o.model, "{}/last.safetensors holds the model {}, not {}", o.out,
                      from.model, o.model);
  SavedSettings saved(app, o, from);
  o.preset = saved.text("--preset", o.preset);
  o.optimizer = saved.text("--optimizer");
  o.schedule = saved.text("--schedule");
  o.data = saved.text("--data");
  o.learning_rate = saved.number<double>("--lr");
  o.warm_up = saved.number<double>("--warm-up");
  o.batch_size = std::max<int64_t>(saved.number<int64_t>("--batch-size"), 1);
  o.limit_batches = saved.number<int64_t>("--limit-batches");
  o.max_steps = saved.number<int64_t>("--steps");
  o.validation = saved.number<double>("--validation", "0");
  auto earlier = from.training.find("--validate");  // what --test was called
  o.test = saved.text("--test", earlier == from.training.end() ? "each" : earlier->second);
  o.normalize = saved.flag("--normalize");
  o.seed = saved.number<uint64_t>("--seed");
  o.epochs = saved.number<int64_t>("--epochs");
  take_settings(saved, o.settings);
}

}  // namespace treadle::cli
