/// Where known data sets are looked for.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace treadle {

/// Where a set may lie, best first.
std::vector<std::filesystem::path> places_of(std::string_view name);

/// The first of places_of(name) that holds files of a data set; empty when none does.
std::filesystem::path find_dataset(std::string_view name);

}  // namespace treadle
