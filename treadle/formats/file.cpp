#include "treadle/formats/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "treadle/core/error.h"

namespace treadle {
namespace {

namespace fs = std::filesystem;

const char* advice(int code) {
  switch (code) {
    case ENOENT:
    case ENOTDIR:
      return "check the path, and that its folder exists";
    case EACCES:
    case EPERM:
    case EROFS:
      return "check the permissions of the file and its folder";
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "free some space or choose another folder";
    case EISDIR:
      return "name a file, not a folder";
    default:
      return "check the disk and try again";
  }
}

[[noreturn]] void fail(const char* action, const fs::path& path, int code) {
  throw FileError(fmt::format("cannot {} {}: {}; {}", action, path.string(),
                              std::generic_category().message(code), advice(code)));
}

int open_to_read(const fs::path& path) {
  // O_NONBLOCK: opening a pipe must not wait for a writer; it is refused afterwards.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) fail("open", path, errno);
  return descriptor;
}

uint64_t regular_file_size(int descriptor, const fs::path& path) {
  struct stat status;
  if (::fstat(descriptor, &status) != 0) fail("examine", path, errno);
  if (S_ISDIR(status.st_mode)) fail("read", path, EISDIR);
  require<FileError>(S_ISREG(status.st_mode),
                     "cannot read {}: it is not a regular file; copy its contents to one", path.string());
  return uint64_t(status.st_size);
}

/// Where the bytes shall end up: the target of a symbolic link, else the path itself.
fs::path resolved_target(const fs::path& path) {
  std::error_code ignored;
  fs::path target = fs::is_symlink(path, ignored) ? fs::weakly_canonical(path, ignored) : path;
  fs::file_status status = fs::status(target, ignored);
  if (fs::is_directory(status)) fail("write", path, EISDIR);
  require<FileError>(!fs::exists(status) || fs::is_regular_file(status),
                     "cannot write {}: it is not a regular file; choose another name", path.string());
  return target;
}

/// A file beside its target that vanishes unless it was committed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& target)
      : target_(target),
        path_(fmt::format("{}.tmp-{}", target.string(), ::getpid())),
        descriptor_(open_to_write()) {}
  ~TemporaryFile() {
    if (!committed_) ::unlink(path_.c_str());
  }
  int descriptor() const { return descriptor_.get(); }

  void commit() {
    if (::fsync(descriptor()) != 0) fail("write", target_, errno);
    if (::rename(path_.c_str(), target_.c_str()) != 0) fail("replace", target_, errno);
    committed_ = true;
    sync_folder();
  }

 private:
  int open_to_write() const {
    int descriptor = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor < 0) fail("write", target_, errno);
    return descriptor;
  }

  /// Makes the rename itself durable. Some file systems cannot; the file is complete either way.
  void sync_folder() const {
    fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
    FileDescriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (descriptor.get() >= 0) ::fsync(descriptor.get());
  }

  fs::path target_;
  fs::path path_;
  FileDescriptor descriptor_;
  bool committed_ = false;
};

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FileReader::FileReader(const fs::path& path)
    : path_(path), descriptor_(open_to_read(path)), size_(regular_file_size(descriptor_.get(), path)) {}

void FileReader::read_at(uint64_t offset, std::span<std::byte> target) const {
  while (!target.empty()) {
    ssize_t count = ::pread(descriptor_.get(), target.data(), target.size(), off_t(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("read", path_, errno);
    require<FileError>(count > 0,
                       "cannot read {}: it ends at byte {}, {} more were expected; was it just shortened?",
                       path_.string(), offset, target.size());
    offset += uint64_t(count);
    target = target.subspan(size_t(count));
  }
}

std::vector<std::byte> read_file(const fs::path& path) {
  FileReader reader(path);
  std::vector<std::byte> bytes(reader.size());
  reader.read_at(0, bytes);
  return bytes;
}

void FileWriter::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("write", path_, errno);
    bytes = bytes.subspan(size_t(count));
  }
}

void FileWriter::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

void write_file_atomically(const fs::path& path, const std::function<void(FileWriter&)>& write) {
  TemporaryFile temporary(resolved_target(path));
  FileWriter writer(path, temporary.descriptor());
  write(writer);
  temporary.commit();
}

}  // namespace treadle
