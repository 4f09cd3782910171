/// Files out of tar archives, as POSIX defines them ("ustar"). Internal to data/.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace treadle {

/// Calls take(name, contents) for each regular file whose own name, without its folders, is one of `wanted`;
/// others are passed over. The archive may be compressed with gzip. Throws FormatError where it is damaged or
/// a file claims more bytes than there can be.
void read_tar(std::span<const std::byte> archive, std::string_view file,
              const std::vector<std::string>& wanted,
              const std::function<void(const std::string& name, std::span<const std::byte> contents)>& take);

}  // namespace treadle
