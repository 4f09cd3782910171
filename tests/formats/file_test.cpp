#include "treadle/formats/file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <thread>

#include "tests/formats/temporary_folder.h"
#include "treadle/core/error.h"
#include "treadle/formats/file_lock.h"

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

/// A process that is killed in the middle of writing `path`; returns its number.
pid_t killed_while_writing(const std::filesystem::path& path) {
  pid_t child = ::fork();
  if (child == 0) {
    write_file_atomically(path, [](FileWriter& writer) {
      writer.write("half");
      ::raise(SIGKILL);
    });
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  return child;
}

TEST(File, WhatAKilledProcessLeftIsRemovedByTheNextWriter) {
  TemporaryFolder folder;
  write_text(folder / "a", "old");
  pid_t child = killed_while_writing(folder / "a");
  std::filesystem::path left = folder / ("a.tmp-" + std::to_string(child));
  EXPECT_EQ(read_text(left), "half");
  EXPECT_EQ(read_text(folder / "a"), "old");
  write_bytes(folder / "a.tmp-12x", "not a temporary");
  write_bytes(folder / "ab.tmp-12", "not one of a");
  write_text(folder / "a", "new");
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_EQ(read_text(folder / "a"), "new");
  EXPECT_EQ(folder.count(), 3u);
}

TEST(File, TemporariesOfLivingWritersStay) {
  TemporaryFolder folder;
  write_file_atomically(folder / "a", [&](FileWriter& writer) {
    writer.write("first ");
    remove_stale_temporaries(folder / "a");
    writer.write("second");
  });
  EXPECT_EQ(read_text(folder / "a"), "first second");
}

TEST(File, ThreadsThatWriteOneFileFollowOneAnother) {
  TemporaryFolder folder;
  auto write_often = [&](char letter) {
    for (int i = 0; i < 50; ++i)
      write_file_atomically(folder / "a", [&](FileWriter& writer) {
        for (int part = 0; part < 20; ++part) writer.write(std::string(100, letter));
      });
  };
  std::thread one(write_often, 'x'), other(write_often, 'y');
  one.join(), other.join();
  std::string text = read_text(folder / "a");
  EXPECT_EQ(text, std::string(2000, text.front()));
  EXPECT_EQ(folder.count(), 1u);
}

TEST(FileLock, IsHeldByOneAndEndsWithItsHolder) {
  TemporaryFolder folder;
  auto held = std::make_unique<LockedFile>(folder / "lock", folder.path(), false);
  EXPECT_EQ(held->state(), LockState::locked);
  EXPECT_TRUE(::fcntl(held->descriptor(), F_GETFD) & FD_CLOEXEC) << "a program it starts would hold it, too";
  EXPECT_EQ(LockedFile(folder / "lock", folder.path(), false).state(), LockState::held_elsewhere);
  held.reset();
  EXPECT_EQ(LockedFile(folder / "lock", folder.path(), false).state(), LockState::locked);
}

TEST(FileLock, AFileThatItsHolderRemovedDoesNotCount) {
  TemporaryFolder folder;
  auto first = std::make_unique<LockedFile>(folder / "lock", folder.path(), false);
  std::thread waits([&] {
    LockedFile second(folder / "lock", folder.path(), true);
    EXPECT_EQ(second.state(), LockState::locked);
    EXPECT_TRUE(is_name_of(folder / "lock", second.descriptor()));
  });
  ::usleep(20'000);  // so that it waits, most often; the test holds without
  std::filesystem::remove(folder / "lock");
  first.reset();
  waits.join();
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
