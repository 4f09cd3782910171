#include "treadle/train/epoch_figures.h"

#include <nlohmann/json.hpp>

namespace treadle {

std::string EpochFigures::line() const {
  nlohmann::json line = values;
  line["epoch"] = epoch;
  return line.dump();
}

std::optional<EpochFigures> read_figures(const std::string& line) {
  auto parsed = nlohmann::json::parse(line, nullptr, false);
  if (!parsed.is_object() || !parsed.contains("epoch") || !parsed["epoch"].is_number_integer())
    return std::nullopt;
  EpochFigures figures{parsed["epoch"].get<int64_t>(), {}};
  parsed.erase("epoch");
  for (const auto& [name, value] : parsed.items())
    if (value.is_number()) figures.values[name] = value.get<double>();
  return figures;
}

}  // namespace treadle
