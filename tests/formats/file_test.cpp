#include "treadle/formats/file.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

#include "tests/formats/temporary_folder.h"
#include "treadle/core/error.h"

namespace treadle {
namespace {

/// Writes beyond `bytes` fail with EFBIG, as on a full disk with ENOSPC.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_;
  void (*handler_)(int);
};

void write_text(const std::filesystem::path& path, std::string_view text) {
  write_file_atomically(path, [&](FileWriter& writer) { writer.write(text); });
}

TEST(File, ReadsWhatWasWritten) {
  TemporaryFolder folder;
  write_text(folder / "a", "some text");
  auto bytes = read_file(folder / "a");
  EXPECT_EQ(std::string(reinterpret_cast<char*>(bytes.data()), bytes.size()), "some text");
  EXPECT_EQ(folder.count(), 1u);
}

TEST(File, ReadsFromAPosition) {
  TemporaryFolder folder;
  write_bytes(folder / "a", "0123456789");
  FileReader reader(folder / "a");
  std::byte part[3];
  reader.read_at(4, part);
  EXPECT_EQ(reader.size(), 10u);
  EXPECT_EQ(char(part[0]), '4');
  EXPECT_EQ(char(part[2]), '6');
  expect_error<FileError>([&] { reader.read_at(8, part); }, {(folder / "a").string(), "ends at byte 10"});
}

TEST(File, RefusesWhatIsNoReadableFile) {
  TemporaryFolder folder;
  expect_error<FileError>([&] { read_file(folder / "absent"); },
                          {"absent", "No such file", "check the path"});
  expect_error<FileError>([&] { read_file(folder.path()); },
                          {folder.path().string(), "directory", "not a folder"});
  expect_error<FileError>([] { read_file("/dev/zero"); }, {"/dev/zero", "not a regular file"});
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  expect_error<FileError>([&] { read_file(folder / "pipe"); }, {"pipe", "not a regular file"});
}

TEST(File, ReplacesAnOlderFile) {
  TemporaryFolder folder;
  write_text(folder / "a", "old and longer");
  write_text(folder / "a", "new");
  EXPECT_EQ(read_text(folder / "a"), "new");
  EXPECT_EQ(folder.count(), 1u);
}

TEST(File, FollowsSymbolicLinks) {
  TemporaryFolder folder;
  write_text(folder / "target", "old");
  std::filesystem::create_symlink("target", folder / "link");
  write_text(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_text(folder / "target"), "new");
}

TEST(File, FullDiskLeavesTheOldFileAndNoTemporary) {
  TemporaryFolder folder;
  write_text(folder / "a", "old");
  std::string large(100'000, 'x');
  {
    FileSizeLimit limit(4096);
    expect_error<FileError>([&] { write_text(folder / "a", large); },
                            {(folder / "a").string(), "File too large", "free some space"});
  }
  EXPECT_EQ(read_text(folder / "a"), "old");
  EXPECT_EQ(folder.count(), 1u);
}

TEST(File, ThrowingWriterLeavesTheOldFileAndNoTemporary) {
  TemporaryFolder folder;
  write_text(folder / "a", "old");
  auto interrupted = [](FileWriter& writer) {
    writer.write("half");
    throw std::runtime_error("stop");
  };
  EXPECT_THROW(write_file_atomically(folder / "a", interrupted), std::runtime_error);
  EXPECT_EQ(read_text(folder / "a"), "old");
  EXPECT_EQ(folder.count(), 1u);
}

TEST(File, WritesBesideTheTargetUnderTheProcessNumber) {
  TemporaryFolder folder;
  std::filesystem::path expected = folder / ("a.tmp-" + std::to_string(::getpid()));
  write_file_atomically(folder / "a", [&](FileWriter&) { EXPECT_TRUE(std::filesystem::exists(expected)); });
  EXPECT_FALSE(std::filesystem::exists(expected));
}

TEST(File, RefusesToReplaceWhatIsNoFile) {
  TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  expect_error<FileError>([&] { write_text(folder / "pipe", "x"); }, {"pipe", "not a regular file"});
  EXPECT_TRUE(std::filesystem::is_fifo(folder / "pipe"));
  expect_error<FileError>([&] { write_text(folder.path(), "x"); }, {folder.path().string(), "not a folder"});
  expect_error<FileError>([&] { write_text(folder / "absent/a", "x"); }, {"absent/a", "No such file"});
}

}  // namespace
}  // namespace treadle
