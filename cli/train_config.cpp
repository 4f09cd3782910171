#include "cli/train_config.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <locale>
#include <map>
#include <sstream>

#include "treadle/core/error.h"
#include "treadle/core/parallel_for.h"
#include "treadle/core/version.h"
#include "treadle/formats/file.h"

namespace treadle::cli {
namespace {

template <class Value>
std::string toml_text(const Value& value) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << toml::value(value);
  return text.str();
}
/// The shortest digits that give the number back: the library writes 17.
std::string toml_text(double value) {
  std::string digits = fmt::format("{}", value);
  return digits.find_first_not_of("-0123456789") == std::string::npos ? digits + ".0" : digits;
}
std::string toml_text(uint64_t value) { return toml_text(int64_t(value)); }
std::string toml_text(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const std::string& word : words) quoted.push_back(toml_text(word));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}
std::string toml_text(const std::vector<int64_t>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

/// What a config.toml says of its run that is no setting of another.
constexpr const char* kOfTheRun[] = {"run", "treadle", "model"};

std::string plain_text(const std::string& file, const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* truth = node.as_boolean()) return truth->get() ? "true" : "false";
  const auto* list = node.as_array();
  require<FormatError>(list, "{}: line {} holds neither a number, a text, true, false nor a list", file,
                       node.source().begin.line);
  std::vector<std::string> parts;
  for (const toml::node& part : *list) parts.push_back(plain_text(file, part));
  return fmt::format("{}", fmt::join(parts, list->is_homogeneous<int64_t>() ? "," : " "));
}

}  // namespace

std::string config_text(const TrainOptions& options, Device device) {
  std::map<std::string, std::string> config{{"model", toml_text(options.model)},
                                            {"treadle", toml_text(std::string(version()))}};
  TrainOptions actual = options;
  actual.device = to_string(device), actual.threads = num_threads();
  for (const ProgramOption& option : described(actual))
    if (option.traits.kept != Kept::no)
      std::visit([&](const auto* value) { config.emplace(option.name, toml_text(*value)); }, option.target);
  std::string text;
  for (const auto& [name, value] : config) text += fmt::format("{} = {}\n", name, value);
  return text;
}

std::map<std::string, std::string> read_config(const std::string& file) {
  const std::vector<std::byte> bytes = read_file(file);
  std::map<std::string, std::string> settings;
  try {
    const toml::table table =
        toml::parse(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    for (const auto& [name, node] : table) settings[std::string(name.str())] = plain_text(file, node);
  } catch (const toml::parse_error& error) {
    throw FormatError(fmt::format("{}: line {}: {}", file, error.source().begin.line, error.description()));
  }
  for (const char* name : kOfTheRun) settings.erase(name);
  return settings;
}

}  // namespace treadle::cli
