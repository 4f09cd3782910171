/// Exclusive advisory locks on files, flock(2): they end with their process, however it ends, so none is
/// stale.
#pragma once

#include <filesystem>
#include <memory>

#include "treadle/core/export.h"
#include "treadle/formats/file.h"

namespace treadle {

enum class LockState {
  locked,
  held_elsewhere,
  unsupported  ///< the file system has no locks
};

/// Locks an open file, without waiting for another holder or with it. The lock ends when the file is closed.
TREADLE_API LockState lock_file(int descriptor, bool wait);

/// Whether `path` is at this moment a name of the open file.
TREADLE_API bool is_name_of(const std::filesystem::path& path, int descriptor);

/// A file open for reading and writing, made where it was absent, that is locked while the object lives.
class TREADLE_API LockedFile {
 public:
  /// What is locked has this name afterwards: a file that its holder removed meanwhile does not count. Throws
  /// FileError when it cannot be opened; the message speaks of `target`.
  LockedFile(const std::filesystem::path& path, const std::filesystem::path& target, bool wait);
  int descriptor() const { return file_->get(); }
  LockState state() const { return state_; }

 private:
  std::unique_ptr<FileDescriptor> file_;
  LockState state_;
};

}  // namespace treadle
