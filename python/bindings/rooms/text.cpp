/// Texts: to learn from, to be judged by, and to write.
#include "treadle/data/text.h"

#include <fmt/core.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>

#include <optional>

#include "python/bindings/arguments.h"
#include "python/bindings/rooms.h"
#include "python/bindings/run.h"
#include "treadle/data/fingerprint.h"
#include "treadle/train/language/fit_language_model.h"
#include "treadle/train/language/text_generator.h"
#include "treadle/train/language/text_windows.h"

namespace treadle::python {
namespace {

using Characters = std::vector<std::string>;

TextDataset read(const std::filesystem::path& file, int64_t block,
                 const std::optional<Characters>& characters) {
  const std::optional<Vocabulary> vocabulary =
      characters ? std::optional<Vocabulary>(*characters) : std::nullopt;
  nb::gil_scoped_release released;
  return load_text(file, {.block = block, .vocabulary = vocabulary ? &*vocabulary : nullptr});
}

void bind_dataset(nb::module_& m) {
  using T = TextDataset;
  nb::class_<T>(m, "TextDataset", nb::is_weak_referenceable(),
                "A text in parts that follow each other, as numbers of its characters.")
      .def_ro("name", &T::name, "The path of its file.")
      .def_ro("block", &T::block, "Characters that a model sees at a time.")
      .def_prop_ro(
          "characters", [](const T& self) { return self.vocabulary.characters(); },
          "Those that there are, by their numbers.")
      .def_ro("train", &T::train, "The numbers of the training part's characters.")
      .def_ro("validation", &T::validation, "Empty unless a part is held out.")
      .def_ro("test", &T::test, "The end of the text.")
      .def(
          "encode",
          [](const T& self, const std::string& text) { return self.vocabulary.encode(text, "the text"); },
          nb::arg("text"), "The numbers of a text's characters. Raises ValueError for one that is not known.")
      .def(
          "decode",
          [](const T& self, const std::vector<int32_t>& numbers) {
            for (int32_t number : numbers)
              if (number < 0 || number >= self.vocabulary.size())
                throw nb::value_error(
                    fmt::format("{} is the number of none of {} characters", number, self.vocabulary.size())
                        .c_str());
            return self.vocabulary.decode(numbers);
          },
          nb::arg("numbers"), "The text of the numbers.")
      .def(
          "__len__", [](const T& self) { return TextWindows(self.train, self.block, 0, kCpu).size(); },
          "Windows of `block` characters in the training part.")
      .def(
          "fingerprint", [](const T& self) { return fingerprint(self); },
          "What the text holds, as one line to read and to compare.")
      .def("_held_out",
           [](const T& self, double share) {
             T parts = self;
             hold_out(parts, share);
             return parts;
           })
      .def("__repr__", [](const T& self) {
        return fmt::format("TextDataset({}, {} training characters of {} kinds)", self.name,
                           self.train.size(), self.vocabulary.size());
      });
  m.def(
      "load_text", read, nb::arg("file"), nb::arg("block") = TextOptions().block,
      nb::arg("characters").none() = nb::none(),
      "A text in UTF-8, of which the end is the test part. block: characters that a model sees at a time; "
      "characters: those of a model that shall read the text. Raises DatasetAbsent where there is no file, "
      "FormatError for what is not UTF-8, a part no longer than a block, or a character that is not known.");
}

void bind_evaluation(nb::module_& m) {
  using E = TextEvaluation;
  nb::class_<E>(m, "TextEvaluation", "How well a model knows which character of a text follows.")
      .def_ro("loss", &E::loss, "Mean cross-entropy of a character, in nats.")
      .def_ro("characters", &E::characters, "That were foretold.")
      .def_prop_ro("perplexity", &E::perplexity, "A choice among so many equal ones is as hard.")
      .def_prop_ro("bits_per_character", &E::bits_per_character, "What a perfect coder would need.")
      .def("__repr__", [](const E& self) {
        return fmt::format("TextEvaluation(loss={:.4f}, perplexity={:.3f})", self.loss, self.perplexity());
      });
  m.def("_evaluate", [](Module& model, const TextDataset& text, Device device, int64_t batch_size,
                        int64_t limit) {
    Interruption interruption;
    return interruption.around([&] {
      return TextEvaluator(model)(text.test, text.block, device, batch_size, limit, interruption.token());
    });
  });
}

/// Without a prompt it begins behind the end of a line, or the first character where there is none.
std::string generate(Module& model, const Characters& characters, int64_t block, Device device,
                     const std::string& prompt, int64_t length, double temperature, int64_t top_k,
                     uint64_t seed) {
  const Vocabulary vocabulary(characters);
  std::vector<int32_t> beginning{0};
  if (!prompt.empty())
    beginning = vocabulary.encode(prompt, "the prompt");
  else if (vocabulary.has(U'\n'))
    beginning = vocabulary.encode("\n", "");
  Interruption interruption;
  return interruption.around([&] {
    TextGenerator generator(model, block, device, beginning, {temperature, top_k}, seed);
    const std::stop_token stop = interruption.token();
    std::string text = prompt;
    for (int64_t i = 0; i < length && !stop.stop_requested(); ++i) {
      const int32_t number = generator.next();
      text += vocabulary.decode({&number, 1});
    }
    return text;
  });
}

FitResult fit_text(Module& model, Optimizer& optimizer, const Schedule& schedule, const TextDataset& text,
                   const ClassifierOptions& options, const std::vector<Callback*>& callbacks,
                   nb::object tick) {
  Run run(options, callbacks, std::move(tick));
  return run([&] { return fit_language_model(model, optimizer, schedule, text, run.options()); });
}

}  // namespace

void bind_text(nb::module_& m) {
  nb::module_ part = m.def_submodule("_text", "Texts.");
  bind_dataset(part);
  bind_evaluation(part);
  part.def("_generate", generate);
  part.def("_fit", fit_text, nb::arg("model"), nb::arg("optimizer"), nb::arg("schedule"), nb::arg("text"),
           nb::arg("options"), nb::arg("callbacks"), nb::arg("tick").none());
}

}  // namespace treadle::python
