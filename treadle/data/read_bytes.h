/// Reading a data file whole. Internal to data/.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

namespace treadle {

/// Throws FileError with the path, the cause and what to do.
std::vector<std::byte> read_bytes(const std::filesystem::path& path);

}  // namespace treadle
