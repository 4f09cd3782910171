#include <fmt/core.h>

#include "cli/command.h"
#include "cli/interruption.h"
#include "cli/settings_options.h"
#include "cli/standard_output.h"
#include "treadle/core/error.h"
#include "treadle/data/text.h"
#include "treadle/train/language/text_generator.h"
#include "treadle/train/load_model.h"

namespace treadle::cli {
namespace {

struct Options : BindingSettings {
  std::string checkpoint, prompt;
  int64_t length = 500, top_k = 0;
  double temperature = 0.8;
  uint64_t seed = 0;
  bool json = false;

  static void describe(auto& field) {
    using O = Options;
    field("checkpoint", &O::checkpoint, "A checkpoint file, or a run folder, of a model that learnt a text",
          {.on_command_line = "CHECKPOINT", .required = true});
    field("prompt", &O::prompt, "What the text begins with; default: as behind the end of a line");
    field("length", &O::length, "Characters to write behind it", {.check = whole_number(1)});
    field("temperature", &O::temperature,
          "Below 1 likelier characters are preferred, above 1 others; 0: always the likeliest",
          {.check = number_from(0)});
    field("top_k", &O::top_k, "Draw among so many likeliest characters only; 0: among all",
          {.check = whole_number(0), .default_shown = false});
    field("seed", &O::seed, "Of what is drawn: the same seed writes the same text", {.check = seed_number()});
    BindingSettings::describe(field);
    field("json", &O::json, "One JSON object");
  }
};

void require_language(const LoadedModel& model) {
  const ModelInfo& info = model_info(model.checkpoint.model);
  require<ValueError>(
      info.task == "language",
      "{} holds the model {}, which learns {} and writes no text; generate needs one that was "
      "trained on a text",
      model.file.string(), info.name, info.task);
}

/// Without a prompt the end of a line, which is not printed, or the first character where there is none.
std::vector<int32_t> beginning(const Vocabulary& vocabulary, const std::string& prompt) {
  if (!prompt.empty()) return vocabulary.encode(prompt, "the prompt");
  return vocabulary.has(U'\n') ? vocabulary.encode("\n", "") : std::vector<int32_t>{0};
}

int run(const Options& options) {
  const Device device = apply_run_settings(options);
  LoadedModel model = load_model(options.checkpoint);
  require_language(model);
  require_finite(model);
  const Vocabulary vocabulary(model.checkpoint.classes);
  const std::vector<int32_t> before = beginning(vocabulary, options.prompt);
  model.module->to(device);
  TextGenerator generator(*model.module, model.checkpoint.input[0], device, before,
                          {.temperature = options.temperature, .top_k = options.top_k}, options.seed);
  const std::stop_token stop = stop_on_signals();
  std::string text;
  const auto put = [&](const std::string& characters) {
    text += characters;
    if (options.json) return;
    fmt::print("{}", characters);
    std::fflush(stdout);
  };
  put(options.prompt);
  for (int64_t i = 0; i < options.length && !stop.stop_requested(); ++i) {
    const int32_t number = generator.next();
    put(vocabulary.decode({&number, 1}));
  }
  put(options.json ? "" : "\n");
  if (stop.stop_requested()) return kInterrupted;
  if (options.json)
    print_json(Json{{"checkpoint", options.checkpoint}, {"prompt", options.prompt}, {"text", text}});
  return kSuccess;
}

}  // namespace

void register_generate(Commands& commands) {
  commands.add({.place = 3,
                .name = "generate",
                .description = "Write on with a model that was trained on a text",
                .example = "treadle generate runs/char_gpt --prompt \"The program\" --length 300"},
               run);
}

}  // namespace treadle::cli
