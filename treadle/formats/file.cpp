#include "treadle/formats/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "treadle/core/error.h"
#include "treadle/formats/file_lock.h"

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

int open_to_read(const fs::path& path) {
  // O_NONBLOCK: opening a pipe must not wait for a writer; it is refused afterwards.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) fail_on_file("open", path, errno);
  return descriptor;
}

uint64_t regular_file_size(int descriptor, const fs::path& path) {
  struct stat status;
  if (::fstat(descriptor, &status) != 0) fail_on_file("examine", path, errno);
  if (S_ISDIR(status.st_mode)) fail_on_file("read", path, EISDIR);
  require<FileError>(S_ISREG(status.st_mode),
                     "cannot read {}: it is not a regular file; copy its contents to one", path.string());
  return uint64_t(status.st_size);
}

/// Where the bytes shall end up: the target of a symbolic link, else the path itself.
fs::path resolved_target(const fs::path& path) {
  std::error_code ignored;
  fs::path target = fs::is_symlink(path, ignored) ? fs::weakly_canonical(path, ignored) : path;
  fs::file_status status = fs::status(target, ignored);
  if (fs::is_directory(status)) fail_on_file("write", path, EISDIR);
  require<FileError>(!fs::exists(status) || fs::is_regular_file(status),
                     "cannot write {}: it is not a regular file; choose another name", path.string());
  return target;
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

constexpr std::string_view kTemporary = ".tmp-";

/// Whether `name` is what a process calls its temporary file for `target`.
bool is_temporary_of(std::string_view target, std::string_view name) {
  if (!name.starts_with(target)) return false;
  name.remove_prefix(target.size());
  if (!name.starts_with(kTemporary) || name.size() == kTemporary.size()) return false;
  name.remove_prefix(kTemporary.size());
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Removes a temporary whose writer does not live any more. One that is renamed or removed meanwhile is not
/// touched: its name is looked at again once the lock is held.
void remove_unless_locked(const fs::path& path) {
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.get() < 0 || lock_file(file.get(), false) != LockState::locked) return;
  if (is_name_of(path, file.get())) ::unlink(path.c_str());
}

/// A file beside its target that vanishes unless it was committed. It is locked while this process writes it.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& target)
      : target_(target),
        path_(fmt::format("{}{}{}", target.string(), kTemporary, ::getpid())),
        file_(path_, target, true) {
    // A killed process of the same number may have left its own.
    if (::ftruncate(descriptor(), 0) != 0) fail_on_file("write", target_, errno);
  }
  ~TemporaryFile() {
    if (!committed_) ::unlink(path_.c_str());
  }
  int descriptor() const { return file_.descriptor(); }

  void commit() {
    if (::fsync(descriptor()) != 0) fail_on_file("write", target_, errno);
    if (::rename(path_.c_str(), target_.c_str()) != 0) fail_on_file("replace", target_, errno);
    committed_ = true;
    sync_folder();
  }

 private:
  /// Makes the rename itself durable. Some file systems cannot; the file is complete either way.
  void sync_folder() const {
    FileDescriptor descriptor(::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (descriptor.get() >= 0) ::fsync(descriptor.get());
  }

  fs::path target_;
  fs::path path_;
  LockedFile file_;
  bool committed_ = false;
};

}  // namespace

void fail_on_file(const char* action, const fs::path& path, int code) {
  throw FileError(fmt::format("cannot {} {}: {}; {}", action, path.string(),
                              std::generic_category().message(code), advice(code)));
}

FileDescriptor::~FileDescriptor() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FileReader::FileReader(const fs::path& path)
    : path_(path), descriptor_(open_to_read(path)), size_(regular_file_size(descriptor_.get(), path)) {}

void FileReader::read_at(uint64_t offset, std::span<std::byte> target) const {
  while (!target.empty()) {
    ssize_t count = ::pread(descriptor_.get(), target.data(), target.size(), off_t(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_on_file("read", path_, errno);
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
    if (count < 0) fail_on_file("write", path_, errno);
    bytes = bytes.subspan(size_t(count));
  }
}

void FileWriter::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

void replace_text(const fs::path& path, std::string_view text) {
  std::error_code ignored;
  if (fs::exists(path, ignored)) {
    const std::vector<std::byte> before = read_file(path);
    if (std::string_view(reinterpret_cast<const char*>(before.data()), before.size()) == text) return;
  }
  write_file_atomically(path, [&](FileWriter& file) { file.write(text); });
}

void append_to_file(const std::filesystem::path& path, std::string_view text, bool durably) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (file.get() < 0) fail_on_file("write", path, errno);
  FileWriter(path, file.get()).write(text);
  if (durably && ::fdatasync(file.get()) != 0) fail_on_file("write", path, errno);
}

void remove_stale_temporaries(const fs::path& path) {
  std::error_code ignored;
  const std::string target = path.filename().string();
  for (fs::directory_iterator entry(folder_of(path), ignored), end; !ignored && entry != end;
       entry.increment(ignored))
    if (is_temporary_of(target, entry->path().filename().string())) remove_unless_locked(entry->path());
}

void write_file_atomically(const fs::path& path, const std::function<void(FileWriter&)>& write) {
  const fs::path target = resolved_target(path);
  remove_stale_temporaries(target);
  TemporaryFile temporary(target);
  FileWriter writer(path, temporary.descriptor());
  write(writer);
  temporary.commit();
}

}  // namespace treadle
