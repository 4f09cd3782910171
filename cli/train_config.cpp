#include "cli/train_config.h"

#include <toml++/toml.h>

#include <locale>
#include <sstream>

#include "treadle/core/parallel_for.h"
#include "treadle/core/version.h"

namespace treadle::cli {
namespace {

void insert(toml::table& config, const std::string& name, const std::vector<std::string>& words) {
  toml::array list;
  for (const std::string& word : words) list.push_back(word);
  config.insert(name, std::move(list));
}
void insert(toml::table& config, const std::string& name, uint64_t value) {
  config.insert(name, int64_t(value));
}
template <class Value>
void insert(toml::table& config, const std::string& name, const Value& value) {
  config.insert(name, value);
}

}  // namespace

std::string config_text(const TrainOptions& options, Device device) {
  toml::table config{{"model", options.model}, {"treadle", version()}};
  TrainOptions actual = options;
  actual.device = to_string(device), actual.threads = num_threads();
  for (const ProgramOption& option : described(actual))
    if (option.traits.kept != Kept::no)
      std::visit([&](const auto* value) { insert(config, option.name, *value); }, option.target);
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << config << "\n";
  return text.str();
}

}  // namespace treadle::cli
