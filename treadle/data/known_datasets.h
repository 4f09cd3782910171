/// The data sets known by name and the places they are looked for. Internal to data/.
#pragma once  // public

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "treadle/data/dataset.h"

namespace treadle {

/// The entry of that name without `found`, or null.
const KnownDataset* known_dataset(std::string_view name);

/// The names that known_dataset() finds.
std::vector<std::string> dataset_names();

/// Where a set may lie, best first.
std::vector<std::filesystem::path> places_of(std::string_view name);

/// The first of places_of(name) that holds files of a data set; empty when none does.
std::filesystem::path find_dataset(std::string_view name);

/// Whether a folder holds, by the names in it, a data set.
bool holds_dataset(const std::filesystem::path& folder);

}  // namespace treadle
