#include "cli/train_config.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <locale>
#include <map>
#include <sstream>

#include "treadle/core/parallel_for.h"
#include "treadle/core/version.h"

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

}  // namespace treadle::cli
