/// A subcommand's options, described once: from the description follow the command line with its help and
/// checks, presets, config.toml, and what a resumed run goes on with.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace treadle::cli {

/// What a value must be, beside its type.
struct OptionCheck {
  /// What is wrong with the text, in a sentence; empty when nothing is. It may write the text in another
  /// form.
  std::function<std::string(std::string& text)> fault = {};
  std::string shown = {};  ///< in --help, behind the type
};

/// Whether a run keeps the value: a run that is resumed has it again.
enum class Kept {
  no,
  fixed,      ///< another value is refused
  renewable,  ///< unless it is given anew
};

struct OptionTraits {
  /// Its name there; empty: "--batch-size" for batch_size. Without dashes it is a word that stands at its
  /// place.
  std::string on_command_line = {};
  OptionCheck check = {};
  bool required = false;
  /// Takes all words behind `--`, as they are; has no name.
  bool behind_dashes = false;
  bool default_shown = true;
  std::vector<std::string> excludes = {},
                           needs = {};  ///< options that come before it, as on the command line
  Kept kept = Kept::no;
  bool kept_later = false;           ///< earlier versions did not keep it: then it had its default value
  std::string kept_as_earlier = {};  ///< its name on the command line of earlier versions
};

/// The variable that an option sets.
using OptionTarget = std::variant<bool*, int64_t*, uint64_t*, double*, std::string*, std::vector<int64_t>*,
                                  std::vector<std::string>*>;

template <class Value>
OptionTarget target_in(Value& value) {
  return &value;
}
/// What the variant holds.
template <class... Values>
OptionTarget target_in(std::variant<Values...>& value) {
  return std::visit([](auto& held) { return OptionTarget(&held); }, value);
}

/// One option, with the variable that it sets.
struct ProgramOption {
  std::string name;  ///< that of the field, and in config.toml
  std::string documentation;
  OptionTarget target;
  OptionTraits traits;
  std::string default_text;

  /// "--batch-size"
  std::string on_command_line() const;
  bool is_word() const { return !on_command_line().starts_with('-'); }
  /// The value as it would be given; several words with spaces between them, numbers with commas.
  std::string text() const;
  /// The default is accepted unchecked: it may be none that can be given. Throws ValueError, a sentence that
  /// begins with the text.
  void set(std::string text) const;
};

/// The options of a struct, from its `static void describe(auto& field)`, which calls field(name,
/// &Options::member, documentation) or field(name, &Options::member, documentation, traits) for each: as the
/// options of ops, and with what a command line needs beside. In place of the member may stand a function
/// that gives it, or a variant that holds it. The struct must outlive them.
template <class Options>
std::vector<ProgramOption> described(Options& options) {
  std::vector<ProgramOption> list;
  Options defaults;
  auto field = [&](const char* name, auto member, std::string documentation, OptionTraits traits = {}) {
    list.push_back(
        {name, std::move(documentation), target_in(std::invoke(member, defaults)), std::move(traits), ""});
    list.back().default_text = list.back().text();
    list.back().target = target_in(std::invoke(member, options));
  };
  Options::describe(field);
  return list;
}

}  // namespace treadle::cli
