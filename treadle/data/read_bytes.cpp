#include "treadle/data/read_bytes.h"

#include <cerrno>
#include <fstream>
#include <system_error>

#include "treadle/core/error.h"
#include "treadle/data/large_vector.h"

namespace treadle {

std::vector<std::byte> read_bytes(const std::filesystem::path& path) {
  // Asked first: on a folder, seeking to the end "succeeds" with a huge length.
  std::error_code code;
  std::uintmax_t size = std::filesystem::file_size(path, code);
  require<FileError>(!code, "cannot read {}: {}; check the path", path.string(), code.message());
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  require<FileError>(file.is_open(), "cannot open {}: {}; check its permissions", path.string(),
                     std::generic_category().message(errno));
  auto bytes = large_vector<std::byte>(size);
  file.read(reinterpret_cast<char*>(bytes.data()), std::streamsize(size));
  require<FileError>(size_t(file.gcount()) == size,
                     "cannot read {}: it ended after {} of {} bytes; try again", path.string(), file.gcount(),
                     size);
  return bytes;
}

}  // namespace treadle
