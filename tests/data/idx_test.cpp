#include "treadle/data/idx.h"

#include <sys/resource.h>

#include "tests/data/sample_files.h"
#include "tests/formats/temporary_folder.h"
#include "treadle/core/error.h"

namespace treadle {
namespace {

void expect_idx_refused(const std::string& bytes, std::initializer_list<std::string_view> parts) {
  expect_error<FormatError>([&] { parse_idx(bytes_of(bytes), "x.idx"); }, parts);
  expect_error<FormatError>([&] { parse_idx(bytes_of(bytes), "x.idx"); }, {"x.idx: "});
}

TEST(Idx, ReadsPlainAndGzip) {
  std::string plain = idx_bytes({5, 4, 3});
  for (const std::string& bytes : {plain, gzip(plain)}) {
    IdxArray array = parse_idx(bytes_of(bytes));
    EXPECT_EQ(array.shape, (Shape{5, 4, 3}));
    ASSERT_EQ(array.values.size(), 60u);
    for (size_t i = 0; i < 60; ++i) EXPECT_EQ(array.values[i], i);
  }
}

TEST(Idx, ReadsFiles) {
  TemporaryFolder folder;
  write_bytes(folder / "a", idx_bytes({7}));
  write_bytes(folder / "a.gz", gzip(idx_bytes({7})));
  EXPECT_EQ(load_idx(folder / "a").values, load_idx(folder / "a.gz").values);
  expect_error<FileError>([&] { load_idx(folder / "absent"); }, {"absent", "No such file", "check the path"});
  expect_error<FileError>([&] { load_idx(folder.path()); }, {folder.path().string()});
  write_bytes(folder / "bad", "abcd");
  expect_error<FormatError>([&] { load_idx(folder / "bad"); }, {(folder / "bad").string()});
}

TEST(Idx, ReadsEmptyArrays) {
  EXPECT_EQ(parse_idx(bytes_of(idx_bytes({0}))).shape, (Shape{0}));
  EXPECT_TRUE(parse_idx(bytes_of(gzip(idx_bytes({0, 28, 28})))).values.empty());
}

TEST(Idx, RefusesWrongMagic) {
  expect_idx_refused("", {"4 more bytes are needed, 0 are left"});
  expect_idx_refused(std::string("\0\0\x08", 3), {"3 are left"});
  expect_idx_refused("PK\x03\x04", {"0x50 0x4b", "two zeros"});
  expect_idx_refused(std::string("\0K\x08\x01", 4), {"0x00 0x4b", "two zeros"});
  expect_idx_refused(std::string("\0\0\x0d\x01\0\0\0\0", 8), {"0x0d", "unsigned bytes"});
  expect_idx_refused(std::string("\0\0\x08\0", 4), {"0 axes, 1 to 8"});
  expect_idx_refused(std::string("\0\0\x08\x09", 4), {"9 axes, 1 to 8"});
  expect_idx_refused(std::string("\0\0\x08\xff", 4), {"255 axes"});
}

TEST(Idx, RefusesShapesThatDoNotFitTheFile) {
  expect_idx_refused(std::string("\0\0\x08\x01\x01\x02\x03\x04", 8), {"[16909060]"});  // 0x01020304
  std::string bytes = idx_bytes({5, 4});
  expect_idx_refused(bytes.substr(0, 9), {"4 more bytes are needed, 1 are left"});
  expect_idx_refused(bytes.substr(0, bytes.size() - 1), {"20 more bytes are needed, 19 are left"});
  expect_idx_refused(bytes + "x", {"1 bytes follow the last value"});
  expect_idx_refused(idx_header({60000, 28, 28}),
                     {"[60000, 28, 28] needs 47040000 bytes", "no more than 16"});
}

TEST(Idx, RefusesShapesThatOverflow) {
  constexpr uint32_t kMost = 0xffffffff;
  expect_idx_refused(idx_header({kMost, kMost}),
                     {"[4294967295, 4294967295] is larger than the limit of 4294967296"});
  expect_idx_refused(idx_header({kMost, kMost, kMost, kMost, kMost, kMost, kMost, kMost}),
                     {"larger than the limit"});
  expect_idx_refused(idx_header({1u << 31, 1u << 31, 4}), {"larger than the limit"});
  expect_idx_refused(idx_header({0, kMost, kMost, kMost}), {"larger than the limit"});
}

TEST(Idx, RefusesGzipCutAnywhere) {
  std::string packed = gzip(idx_bytes({50, 20}));
  for (size_t length = 0; length < packed.size(); ++length)
    EXPECT_THROW(parse_idx(bytes_of(packed.substr(0, length))), FormatError)
        << length << " of " << packed.size();
  expect_idx_refused(packed.substr(0, packed.size() - 3), {"cut short"});
}

TEST(Idx, RefusesDamagedGzip) {
  std::string packed = gzip(idx_bytes({50, 20}));
  std::string damaged = packed;
  damaged[packed.size() - 6] ^= 1;  // in the CRC
  expect_idx_refused(damaged, {"gzip stream is damaged", "incorrect data check"});
  damaged = packed;
  damaged[2] = 0;
  expect_idx_refused(damaged, {"gzip stream is damaged", "unknown compression method"});
}

TEST(Idx, RefusesBytesBehindTheValuesInGzip) {
  expect_idx_refused(gzip(idx_bytes({5}) + "x"), {"unpacked bytes follow"});
  expect_idx_refused(gzip(idx_bytes({5})) + "xyz", {"3 bytes follow the gzip stream", "no gzip member"});
  expect_idx_refused(gzip(idx_bytes({5, 5}).substr(0, 30)), {"25 more bytes are needed", "ends after 18"});
}

/// The bytes in members of `size` unpacked bytes each.
std::string gzip_members(std::string_view bytes, size_t size) {
  std::string packed;
  for (size_t at = 0; at < bytes.size(); at += size) packed += gzip(bytes.substr(at, size));
  return packed;
}

TEST(Idx, ReadsGzipOfSeveralMembers) {
  const std::string plain = idx_bytes({5, 4, 3});
  const std::string zeros(700, '\0');
  for (const std::string& bytes :
       {gzip_members(plain, 1), gzip_members(plain, 3), gzip_members(plain, 17), gzip(plain) + gzip(""),
        gzip("") + gzip("") + gzip(plain), gzip(plain) + zeros,
        gzip(plain.substr(0, 30)) + zeros + gzip(plain.substr(30)) + zeros})
    EXPECT_EQ(parse_idx(bytes_of(bytes)).values, parse_idx(bytes_of(plain)).values);
}

TEST(Idx, RefusesMembersThatAreCutOrDamaged) {
  const std::string first = gzip(idx_bytes({50, 20}).substr(0, 500)),
                    second = gzip(idx_bytes({50, 20}).substr(500));
  EXPECT_EQ(parse_idx(bytes_of(first + second)).values.size(), 1000u);
  for (size_t length = 0; length < second.size(); ++length)
    EXPECT_THROW(parse_idx(bytes_of(first + second.substr(0, length))), FormatError) << length;
  expect_idx_refused(first + second.substr(0, 1), {"cut short"});
  expect_idx_refused(first + second.substr(0, second.size() - 1), {"cut short"});
  std::string damaged = first;
  damaged[first.size() - 6] ^= 1;  // in the first member's CRC
  expect_idx_refused(damaged + second, {"incorrect data check"});
  expect_idx_refused(first + second + gzip("x"), {"unpacked bytes follow"});
  expect_idx_refused(first + second + std::string("\0\0\x1fx", 4), {"2 bytes follow the gzip stream"});
}

/// The private memory of this process.
rlim_t data_bytes() {
  std::string status = read_text("/proc/self/status");
  return rlim_t(std::stoull(status.substr(status.find("VmData:") + 7))) << 10;
}

/// In its scope this process cannot have more than `bytes` of memory beside what it has.
class MemoryLimit {
 public:
  explicit MemoryLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_DATA, &before_);
    rlimit limit{data_bytes() + bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_DATA, &limit);
  }
  ~MemoryLimit() { ::setrlimit(RLIMIT_DATA, &before_); }

 private:
  rlimit before_;
};

TEST(Idx, GzipBombsAreNotUnpacked) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer's own memory exceeds the limit of this test";
#endif
  std::string bomb = gzip(idx_header({5}) + std::string(size_t(64) << 20, '\0'));
  std::string claim = gzip(idx_header({60000, 200, 200}));
  MemoryLimit limit(rlim_t(16) << 20);
  expect_idx_refused(bomb, {"unpacked bytes follow"});
  expect_idx_refused(claim, {"needs 2400000000 bytes", "can hold no more than"});
}

}  // namespace
}  // namespace treadle
