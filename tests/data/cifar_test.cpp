#include "treadle/data/cifar.h"

#include "tests/formats/temporary_folder.h"
#include "treadle/core/error.h"

namespace treadle {
namespace {

std::string record(char label, char pixel) {
  return std::string(1, label) + std::string(kCifarPixels, pixel);
}

void expect_archive_refused(const std::string& bytes, std::initializer_list<std::string_view> parts) {
  expect_error<FormatError>([&] { parse_cifar10(bytes_of(bytes), "x.bin"); }, parts);
}

TEST(Cifar, TakesRecordsApart) {
  std::string bytes = record(3, 'a') + record(9, 'b');
  bytes[1] = 'R';
  bytes[1 + 1024] = 'G';
  CifarRecords records = parse_cifar10(bytes_of(bytes));
  EXPECT_EQ(records.labels, (std::vector<uint8_t>{3, 9}));
  ASSERT_EQ(records.pixels.size(), 2 * kCifarPixels);
  EXPECT_EQ(records.pixels[0], 'R');
  EXPECT_EQ(records.pixels[1024], 'G');
  EXPECT_EQ(records.pixels[kCifarPixels - 1], 'a');
  EXPECT_EQ(records.pixels[kCifarPixels], 'b');
}

TEST(Cifar, ReadsFiles) {
  TemporaryFolder folder;
  write_bytes(folder / "a.bin", record(1, 'x'));
  EXPECT_EQ(load_cifar10(folder / "a.bin").labels, std::vector<uint8_t>{1});
  expect_error<FileError>([&] { load_cifar10(folder / "absent.bin"); }, {"absent.bin"});
  write_bytes(folder / "bad.bin", "x");
  expect_error<FormatError>([&] { load_cifar10(folder / "bad.bin"); }, {(folder / "bad.bin").string()});
}

TEST(Cifar, RefusesOtherSizes) {
  expect_archive_refused("", {"x.bin", "0 bytes", "3073"});
  expect_archive_refused(record(1, 'x').substr(1), {"3072 bytes", "3073"});
  expect_archive_refused(record(1, 'x') + "y", {"3074 bytes", "3073"});
}

TEST(Cifar, RefusesLabelsAboveNine) {
  expect_archive_refused(record(9, 'x') + record(10, 'x'), {"record 1 has label 10", "0 to 9"});
  expect_archive_refused(record('\xff', 'x'), {"record 0 has label 255"});
}

}  // namespace
}  // namespace treadle
