#include "treadle/formats/zip.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "treadle/core/error.h"
#include "treadle/formats/safetensors_header.h"

namespace treadle {
namespace {

constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                   kLocator64 = 0x07064b50;
constexpr size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kLocatorBytes = 20;
constexpr uint16_t kStored = 0, kDeflated = 8, kEncrypted = 1, kUtf8Name = 1 << 11;
constexpr uint64_t kMost32 = std::numeric_limits<uint32_t>::max();
/// Deflate turns no byte into more.
constexpr uint64_t kMostYield = 1032;
/// Of an archive that is written: what deflate may add to contents still fits into 32 bits.
constexpr uint64_t kMostArchive = kMost32 - (4 << 20);
constexpr size_t kPiece = size_t(1) << 30;  ///< zlib counts in 32 bits

/// Numbers at places of the archive; every place is checked.
class Bytes {
 public:
  Bytes(std::span<const std::byte> bytes, std::string_view file) : bytes_(bytes), file_(file) {}

  template <class T>
  T at(uint64_t offset) const {
    T value;
    std::memcpy(&value, part(offset, sizeof(T)).data(), sizeof(T));
    return value;
  }

  std::span<const std::byte> part(uint64_t offset, uint64_t count) const {
    require<FormatError>(
        offset <= bytes_.size() && count <= bytes_.size() - offset,
        "{}: the archive speaks of {} bytes from byte {} on, it has {}; it is cut short or damaged", file_,
        count, offset, bytes_.size());
    return bytes_.subspan(offset, count);
  }

  std::string text(uint64_t offset, uint64_t count) const {
    const auto found = part(offset, count);
    return {reinterpret_cast<const char*>(found.data()), found.size()};
  }

  uint64_t size() const { return bytes_.size(); }
  std::string_view file() const { return file_; }

 private:
  std::span<const std::byte> bytes_;
  std::string_view file_;
};

/// Where the directory is and how many members it lists.
struct Directory {
  uint64_t offset = 0, members = 0;
};

/// The record at the end, behind which a comment may stand.
uint64_t find_end(const Bytes& bytes) {
  constexpr uint64_t kLongestComment = 0xffff;
  for (uint64_t back = kEndBytes; back <= std::min(bytes.size(), kEndBytes + kLongestComment); ++back)
    if (bytes.at<uint32_t>(bytes.size() - back) == kEnd) return bytes.size() - back;
  throw FormatError(fmt::format("{}: is no zip archive, or cut short: its directory was not found at the end",
                                bytes.file()));
}

Directory find_directory(const Bytes& bytes) {
  const uint64_t end = find_end(bytes);
  require<FormatError>(bytes.at<uint16_t>(end + 4) == 0 && bytes.at<uint16_t>(end + 6) == 0,
                       "{}: is a part of an archive in several parts", bytes.file());
  Directory found{bytes.at<uint32_t>(end + 16), bytes.at<uint16_t>(end + 10)};
  if (found.offset != kMost32 && found.members != 0xffff) return found;
  if (end < kLocatorBytes || bytes.at<uint32_t>(end - kLocatorBytes) != kLocator64) return found;
  const uint64_t end64 = bytes.at<uint64_t>(end - kLocatorBytes + 8);
  require<FormatError>(bytes.at<uint32_t>(end64) == kEnd64, "{}: the end of the directory is damaged",
                       bytes.file());
  bytes.part(end64, kEnd64Bytes);
  return {bytes.at<uint64_t>(end64 + 48), bytes.at<uint64_t>(end64 + 32)};
}

/// Sizes and offset that do not fit in 32 bits stand in an extra field, those that are needed, in this order.
void read_large_numbers(const Bytes& bytes, uint64_t begin, uint64_t end, ZipMember& member) {
  constexpr uint16_t kZip64 = 1;
  while (begin + 4 <= end) {
    const uint16_t kind = bytes.at<uint16_t>(begin);
    const uint64_t field_end = begin + 4 + bytes.at<uint16_t>(begin + 2);
    begin += 4;
    for (uint64_t* number : {&member.bytes, &member.packed_bytes, &member.offset})
      if (kind == kZip64 && *number == kMost32 && begin + 8 <= std::min(field_end, end))
        *number = bytes.at<uint64_t>(begin), begin += 8;
    begin = field_end;
  }
}

void check_member(const ZipMember& member, uint16_t flags, std::string_view file) {
  const std::string name = printable(member.name);
  require<FormatError>((flags & kEncrypted) == 0, "{}: {} is encrypted", file, name);
  require<FormatError>(member.method == kStored || member.method == kDeflated,
                       "{}: {} is packed by method {}, read are 0 (stored) and 8 (deflate)", file, name,
                       member.method);
  const bool possible = member.method == kStored ? member.bytes == member.packed_bytes
                                                 : member.bytes / kMostYield <= member.packed_bytes;
  require<FormatError>(possible, "{}: {} claims to hold {} bytes in {}, which is impossible", file, name,
                       member.bytes, member.packed_bytes);
}

/// Reads the entry at `offset` and moves it to the next.
ZipMember read_member(const Bytes& bytes, uint64_t& offset) {
  require<FormatError>(bytes.at<uint32_t>(offset) == kCentral, "{}: the directory is damaged at byte {}",
                       bytes.file(), offset);
  const uint16_t name = bytes.at<uint16_t>(offset + 28), extra = bytes.at<uint16_t>(offset + 30),
                 comment = bytes.at<uint16_t>(offset + 32);
  ZipMember member{bytes.text(offset + kCentralBytes, name), bytes.at<uint16_t>(offset + 10),
                   bytes.at<uint32_t>(offset + 16),          bytes.at<uint32_t>(offset + 20),
                   bytes.at<uint32_t>(offset + 24),          bytes.at<uint32_t>(offset + 42)};
  const uint64_t extra_begin = offset + kCentralBytes + name;
  read_large_numbers(bytes, extra_begin, extra_begin + extra, member);
  check_member(member, bytes.at<uint16_t>(offset + 8), bytes.file());
  offset = extra_begin + extra + comment;
  return member;
}

/// The packed contents, behind a local header with a name and extra fields of its own.
std::span<const std::byte> packed_bytes(const Bytes& bytes, const ZipMember& member) {
  require<FormatError>(bytes.at<uint32_t>(member.offset) == kLocal,
                       "{}: {} is not at byte {}, where it should be", bytes.file(), printable(member.name),
                       member.offset);
  const uint64_t names =
      uint64_t(bytes.at<uint16_t>(member.offset + 26)) + bytes.at<uint16_t>(member.offset + 28);
  return bytes.part(member.offset + kLocalBytes + names, member.packed_bytes);
}

/// Fills `target` with what `packed` unpacks to; false unless it is exactly that much.
bool inflate_all(std::span<const std::byte> packed, std::span<std::byte> target) {
  z_stream state{};
  if (inflateInit2(&state, -MAX_WBITS) != Z_OK) return false;
  state.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
  state.next_out = reinterpret_cast<Bytef*>(target.data());
  size_t in_left = packed.size(), out_left = target.size();
  auto take = [](size_t& left) {
    const size_t count = std::min(left, kPiece);
    left -= count;
    return uInt(count);
  };
  Bytef beyond;  // where a stream that is longer than it should be shows
  int code = Z_OK;
  while (code == Z_OK && state.total_out <= target.size()) {
    if (state.avail_in == 0) state.avail_in = take(in_left);
    if (state.avail_out == 0) state.avail_out = take(out_left);
    if (state.avail_out == 0) state.next_out = &beyond, state.avail_out = 1;
    code = inflate(&state, Z_NO_FLUSH);
  }
  const bool whole =
      code == Z_STREAM_END && state.total_out == target.size() && state.avail_in + in_left == 0;
  inflateEnd(&state);
  return whole;
}

uint32_t checksum_of(std::span<const std::byte> bytes) {
  return uint32_t(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::vector<std::byte> deflated(std::span<const std::byte> contents) {
  z_stream state{};
  require<Error>(
      deflateInit2(&state, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK,
      "zlib has no memory to pack {} bytes", contents.size());
  std::vector<std::byte> packed(deflateBound(&state, contents.size()));
  state.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(contents.data()));
  state.avail_in = uInt(contents.size());
  state.next_out = reinterpret_cast<Bytef*>(packed.data());
  state.avail_out = uInt(packed.size());
  deflate(&state, Z_FINISH);
  packed.resize(state.total_out);
  deflateEnd(&state);
  return packed;
}

template <class... T>
void append(std::vector<std::byte>& bytes, T... numbers) {
  auto one = [&](auto number) {
    const auto part = std::as_bytes(std::span(&number, 1));
    bytes.insert(bytes.end(), part.begin(), part.end());
  };
  (one(numbers), ...);
}

void append_text(std::vector<std::byte>& bytes, const std::string& text) {
  const auto part = std::as_bytes(std::span(text));
  bytes.insert(bytes.end(), part.begin(), part.end());
}

constexpr uint16_t kVersion = 20;               ///< 2.0: the first that knows deflate
constexpr uint32_t kDate = (1 << 5 | 1) << 16;  ///< 1 January 1980, so that equal contents are equal archives

/// What local header and directory entry have in common, from the version that is needed on.
void append_description(std::vector<std::byte>& bytes, const ZipMember& member) {
  append(bytes, kVersion, kUtf8Name, member.method, kDate, member.checksum, uint32_t(member.packed_bytes),
         uint32_t(member.bytes), uint16_t(member.name.size()), uint16_t(0));
}

}  // namespace

std::vector<ZipMember> zip_members(std::span<const std::byte> archive, std::string_view file) {
  const Bytes bytes(archive, file);
  const Directory directory = find_directory(bytes);
  std::vector<ZipMember> members;
  uint64_t offset = directory.offset, packed = 0;
  for (uint64_t i = 0; i < directory.members; ++i) {
    members.push_back(read_member(bytes, offset));
    packed += packed_bytes(bytes, members.back()).size();
    require<FormatError>(packed <= bytes.size(),
                         "{}: the members lie over each other: they claim {} of {} bytes", file, packed,
                         bytes.size());
  }
  return members;
}

std::vector<std::byte> unpack_member(std::span<const std::byte> archive, const ZipMember& member,
                                     std::string_view file) {
  const auto packed = packed_bytes(Bytes(archive, file), member);
  std::vector<std::byte> contents(member.bytes);
  if (member.method == kStored) {
    std::copy(packed.begin(), packed.end(), contents.begin());
  } else {
    require<FormatError>(inflate_all(packed, contents),
                         "{}: {} is damaged: it does not unpack to the {} bytes that the directory says",
                         file, printable(member.name), member.bytes);
  }
  require<FormatError>(checksum_of(contents) == member.checksum,
                       "{}: the checksum of {} is wrong; it is damaged", file, printable(member.name));
  return contents;
}

void ZipWriter::add(std::string name, std::span<const std::byte> contents, bool compressed) {
  require<ValueError>(
      bytes_.size() + contents.size() < kMostArchive && members_.size() < 0xffff && name.size() <= 0xffff,
      "{} does not fit into an archive of at most 4 GiB and 65,535 members", printable(name));
  ZipMember member{std::move(name),       compressed ? kDeflated : kStored,
                   checksum_of(contents), contents.size(),
                   contents.size(),       bytes_.size()};
  std::vector<std::byte> packed;
  if (compressed) contents = packed = deflated(contents);
  member.packed_bytes = contents.size();
  append(bytes_, kLocal);
  append_description(bytes_, member);
  append_text(bytes_, member.name);
  bytes_.insert(bytes_.end(), contents.begin(), contents.end());
  members_.push_back(std::move(member));
}

std::vector<std::byte> ZipWriter::finish() {
  const uint32_t begin = uint32_t(bytes_.size());
  for (const ZipMember& member : members_) {
    append(bytes_, kCentral, kVersion);
    append_description(bytes_, member);
    append(bytes_, uint16_t(0), uint16_t(0), uint16_t(0), uint32_t(0), uint32_t(member.offset));
    append_text(bytes_, member.name);
  }
  const uint32_t size = uint32_t(bytes_.size()) - begin;
  const uint16_t count = uint16_t(members_.size());
  append(bytes_, kEnd, uint16_t(0), uint16_t(0), count, count, size, begin, uint16_t(0));
  return std::move(bytes_);
}

}  // namespace treadle
