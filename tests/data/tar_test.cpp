#include "treadle/data/tar.h"

#include <map>

#include "tests/data/sample_files.h"
#include "tests/formats/temporary_folder.h"
#include "tests/refused.h"
#include "treadle/core/error.h"

namespace treadle {
namespace {

/// A header of 512 bytes, with its checksum.
std::string tar_header(const std::string& name, const std::string& size, char type = '0') {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  header.replace(124, size.size(), size);
  header[156] = type;
  header.replace(257, 5, "ustar");
  unsigned sum = 8 * ' ';
  for (char c : header) sum += uint8_t(c);
  return header.replace(148, 8, fmt::format("{:06o}", sum) + '\0' + ' ');
}

std::string tar_file(const std::string& name, const std::string& contents, char type = '0') {
  return tar_header(name, fmt::format("{:011o}", contents.size()), type) + contents +
         std::string((512 - contents.size() % 512) % 512, '\0');
}

const std::string kEndOfTar(1024, '\0');

std::map<std::string, std::string> files_in(const std::string& archive) {
  std::map<std::string, std::string> files;
  read_tar(bytes_of(archive), "some.tar", {"a.bin", "b.bin"},
           [&](const std::string& name, std::span<const std::byte> contents) {
             files[name] = {reinterpret_cast<const char*>(contents.data()), contents.size()};
           });
  return files;
}

TEST(Tar, TakesWhatIsWanted) {
  const std::string archive = tar_file("folder/", "", '5') + tar_file("folder/a.bin", std::string(512, 'a')) +
                              tar_file("c.bin", std::string(1300, 'c')) + tar_file("../../b.bin", "bb") +
                              kEndOfTar;
  const std::map<std::string, std::string> expected{{"a.bin", std::string(512, 'a')}, {"b.bin", "bb"}};
  EXPECT_EQ(files_in(archive), expected);
  EXPECT_EQ(files_in(gzip(archive)), expected);
  EXPECT_TRUE(files_in(kEndOfTar).empty());
}

/// A link of that name is none of the files.
TEST(Tar, LinksAreNotFollowed) { EXPECT_TRUE(files_in(tar_file("a.bin", "", '2') + kEndOfTar).empty()); }

TEST(Tar, DamagedArchives) {
  auto read = [](std::string archive) { return [archive] { files_in(archive); }; };
  std::string changed = tar_file("a.bin", "aa") + kEndOfTar;
  changed[3] = 'x';
  expect_refused({
      refused<FormatError>("empty", {"some.tar"}, read("")),
      refused<FormatError>("cut in a header", {"cut short"}, read(tar_file("a.bin", "aa").substr(0, 300))),
      refused<FormatError>("cut in a file", {"cut short"},
                           read(tar_file("a.bin", std::string(600, 'a')).substr(0, 1000))),
      refused<FormatError>("no end", {"cut short"}, read(tar_file("a.bin", "aa"))),
      refused<FormatError>("checksum", {"checksum is"}, read(changed)),
      refused<FormatError>("size", {"a.bin claims 8589934591 bytes"},
                           read(tar_header("a.bin", "77777777777") + kEndOfTar)),
      refused<FormatError>("size of others", {"c.bin claims 8589934591 bytes"},
                           read(tar_header("c.bin", "77777777777") + kEndOfTar)),
      refused<FormatError>("no number", {"'12x' is no octal number"},
                           read(tar_header("a.bin", "12x") + kEndOfTar)),
  });
}

}  // namespace
}  // namespace treadle
