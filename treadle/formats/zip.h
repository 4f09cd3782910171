/// Zip archives in memory: as many features as arrays need. Internal to formats/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace treadle {

/// What the directory of an archive says of a member.
struct ZipMember {
  std::string name;
  uint16_t method = 0;
  uint32_t checksum = 0;
  uint64_t packed_bytes = 0, bytes = 0;
  uint64_t offset = 0;  ///< of its local header
};

/// The members in the order of the directory. Checked are: that directory and members lie within the archive,
/// that the members together are not larger than it, that none claims more than deflate can yield;
/// encryption, other methods, and archives in several parts are refused. Throws FormatError.
std::vector<ZipMember> zip_members(std::span<const std::byte> archive, std::string_view file);

/// The contents of a member, unpacked and compared with its checksum. Throws FormatError.
std::vector<std::byte> unpack_member(std::span<const std::byte> archive, const ZipMember& member,
                                     std::string_view file);

/// Puts members one behind the other.
class ZipWriter {
 public:
  /// Throws ValueError where a member or the archive is larger than 4 GiB, or there are more than 65,535.
  void add(std::string name, std::span<const std::byte> contents, bool compressed);
  /// The archive, whose directory comes last.
  std::vector<std::byte> finish();

 private:
  std::vector<std::byte> bytes_;
  std::vector<ZipMember> members_;
};

}  // namespace treadle
