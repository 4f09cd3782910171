#include "treadle/formats/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace treadle {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<FileDescriptor> open_or_make(const fs::path& path, const fs::path& target) {
  auto file =
      std::make_unique<FileDescriptor>(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (file->get() < 0) fail_on_file("write", target, errno);
  return file;
}

}  // namespace

LockState lock_file(int descriptor, bool wait) {
  int result;
  do result = ::flock(descriptor, wait ? LOCK_EX : LOCK_EX | LOCK_NB);
  while (result != 0 && errno == EINTR);
  if (result == 0) return LockState::locked;
  return errno == EWOULDBLOCK ? LockState::held_elsewhere : LockState::unsupported;
}

bool is_name_of(const fs::path& path, int descriptor) {
  struct stat by_name, open;
  return ::lstat(path.c_str(), &by_name) == 0 && ::fstat(descriptor, &open) == 0 &&
         by_name.st_dev == open.st_dev && by_name.st_ino == open.st_ino;
}

LockedFile::LockedFile(const fs::path& path, const fs::path& target, bool wait) {
  do {
    file_ = open_or_make(path, target);
    state_ = lock_file(descriptor(), wait);
  } while (state_ == LockState::locked && !is_name_of(path, descriptor()));
}

}  // namespace treadle
