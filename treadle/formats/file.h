/// Reading files by position and replacing them atomically; failures are FileErrors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "treadle/core/export.h"

namespace treadle {

/// Throws a FileError: "cannot ACTION PATH: …", with the sentence that belongs to the errno `code`, and what
/// to do.
[[noreturn]] TREADLE_API void fail_on_file(const char* action, const std::filesystem::path& path, int code);

/// Owns an open file descriptor and closes it.
class TREADLE_API FileDescriptor {
 public:
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  ~FileDescriptor();
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// A regular file open for reading. Throws FileError for what is absent, unreadable, a folder or a device.
class TREADLE_API FileReader {
 public:
  explicit FileReader(const std::filesystem::path& path);
  const std::filesystem::path& path() const { return path_; }
  /// Length in bytes when the file was opened.
  uint64_t size() const { return size_; }
  /// Fills `target` with the bytes from `offset` on. Throws FileError, also when the file ends first.
  void read_at(uint64_t offset, std::span<std::byte> target) const;

 private:
  std::filesystem::path path_;
  FileDescriptor descriptor_;
  uint64_t size_;
};

/// The whole contents of a file. Throws FileError.
TREADLE_API std::vector<std::byte> read_file(const std::filesystem::path& path);

/// What write_file_atomically hands to its callback.
class TREADLE_API FileWriter {
 public:
  FileWriter(const std::filesystem::path& path, int descriptor) : path_(path), descriptor_(descriptor) {}
  /// Appends bytes. Throws FileError.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);

 private:
  const std::filesystem::path& path_;
  int descriptor_;
};

/// Creates or replaces `path` with what `write` appends: to `path.tmp-PID` first, then fsync and rename. When
/// anything throws, the temporary is gone and an older file is untouched; what a killed process left is
/// removed by the next call for the same path. Calls for one path from several threads follow one another.
/// Symbolic links are followed; folders and devices are refused. Throws FileError, and whatever `write`
/// throws.
TREADLE_API void write_file_atomically(const std::filesystem::path& path,
                                       const std::function<void(FileWriter&)>& write);

/// The same with a text; a file that holds it already is left alone.
TREADLE_API void replace_text(const std::filesystem::path& path, std::string_view text);

/// Appends text to a file, which is made where it was absent; `durably`: it is on the disk afterwards. Throws
/// FileError.
TREADLE_API void append_to_file(const std::filesystem::path& path, std::string_view text,
                                bool durably = false);

/// Removes the temporaries that write_file_atomically() for this path left when its process was killed. Those
/// of living processes, which hold a lock on them, stay. Never throws.
TREADLE_API void remove_stale_temporaries(const std::filesystem::path& path);

}  // namespace treadle
