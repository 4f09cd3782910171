#include "treadle/data/download.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "treadle/core/nearest_name.h"
#include "treadle/core/plugin.h"
#include "treadle/data/byte_stream.h"
#include "treadle/data/curl/api.h"
#include "treadle/data/dataset_places.h"
#include "treadle/data/dataset_registry.h"
#include "treadle/data/file_names.h"
#include "treadle/data/sha256.h"
#include "treadle/data/tar.h"
#include "treadle/formats/file.h"
#include "treadle/formats/file_lock.h"

namespace treadle {
namespace {

namespace fs = std::filesystem;

/// How often a mirror is asked for the rest of a file whose transfer broke off, as long as something comes
/// each time.
constexpr int kMostResumes = 8;

/// What a stop requested by the user ends.
struct Interrupted {};

/// A file that came from a mirror and is not what it should be, or did not come; the sentence says why.
struct MirrorFailed {
  std::string reason;
};

const Plugin& plugin() { return open_plugin("curl", TREADLE_CURL_ABI_VERSION); }

const TreadleCurlApi& curl() {
  require<DatasetAbsent>(plugin().table != nullptr, "downloads need libcurl (Debian: libcurl4): {}",
                         plugin().absence);
  return *static_cast<const TreadleCurlApi*>(plugin().table);
}

/// The length of what is there of a file so far, which belongs to one process at a time.
class PartFile {
 public:
  explicit PartFile(const fs::path& target)
      : path_(target.string() + ".part"), target_(target), file_(path_, target, false) {
    require<FileError>(file_.state() != LockState::held_elsewhere,
                       "{} is being downloaded by another process; wait for its end", target.string());
  }

  uint64_t size() const {
    struct stat status;
    if (::fstat(file_.descriptor(), &status) != 0) fail_on_file("examine", path_, errno);
    return uint64_t(status.st_size);
  }
  void cut(uint64_t size) {
    if (::ftruncate(file_.descriptor(), off_t(size)) != 0) fail_on_file("write", path_, errno);
    if (::lseek(file_.descriptor(), 0, SEEK_END) < 0) fail_on_file("write", path_, errno);
  }
  void append(std::span<const std::byte> bytes) { FileWriter(path_, file_.descriptor()).write(bytes); }
  void remove() { ::unlink(path_.c_str()); }
  void rename() {
    if (::fsync(file_.descriptor()) != 0) fail_on_file("write", path_, errno);
    if (::rename(path_.c_str(), target_.c_str()) != 0) fail_on_file("replace", target_, errno);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_, target_;
  LockedFile file_;
};

/// One transfer to a part file; what the functions of the request see.
struct Transfer {
  PartFile& part;
  const DownloadOptions& options;
  DownloadProgress progress;
  std::string refusal = {};         ///< what is wrong with the server's answer
  bool no_rest = false;             ///< the server's file is not longer than what is here
  std::exception_ptr failure = {};  ///< an error of ours must not pass through libcurl
  uint64_t received = 0;

  int begin(const TreadleCurlAnswer& answer) {
    const bool resumed = answer.status == 206 && answer.first == progress.bytes;
    no_rest = answer.status == 416 && progress.bytes > 0;
    if (no_rest) return 1;
    if (answer.status != 200 && !resumed) refusal = fmt::format("the server answers {}", answer.status);
    if (!refusal.empty()) return 1;
    if (!resumed) part.cut(progress.bytes = 0);
    if (answer.length >= 0) progress.expected = progress.bytes + uint64_t(answer.length);
    return 0;
  }

  int receive(std::span<const std::byte> bytes) {
    part.append(bytes);
    progress.bytes += bytes.size(), received += bytes.size();
    if (options.on_progress) options.on_progress(progress);
    return options.stop.stop_requested();
  }

  /// Runs a function of ours below libcurl.
  template <class F>
  int guarded(F f) {
    try {
      return f();
    } catch (...) {
      failure = std::current_exception();
      return 1;
    }
  }
};

Transfer& transfer_at(void* context) { return *static_cast<Transfer*>(context); }

/// Gets the rest of a file; empty, or why it broke off.
std::string transfer_rest(const std::string& url, Transfer& transfer) {
  transfer.progress.bytes = transfer.part.size();
  transfer.part.cut(transfer.progress.bytes);
  const TreadleCurlRequest request{
      .url = url.c_str(),
      .from = transfer.progress.bytes,
      .patience = transfer.options.patience,
      .context = &transfer,
      .begin =
          [](void* context, const TreadleCurlAnswer* answer) {
            Transfer& t = transfer_at(context);
            return t.guarded([&] { return t.begin(*answer); });
          },
      .receive =
          [](void* context, const void* bytes, size_t count) {
            Transfer& t = transfer_at(context);
            return t.guarded([&] { return t.receive({static_cast<const std::byte*>(bytes), count}); });
          },
      .is_stopped = [](void* context) { return int(transfer_at(context).options.stop.stop_requested()); },
  };
  char message[512] = "";
  const int status = curl().get(&request, message, sizeof message);
  if (transfer.failure) std::rethrow_exception(transfer.failure);
  if (transfer.no_rest) {  // what is here is no beginning of it
    transfer.part.cut(0);
    return transfer_rest(url, transfer);
  }
  if (!transfer.refusal.empty()) throw MirrorFailed{transfer.refusal};
  if (transfer.options.stop.stop_requested()) throw Interrupted();
  return status == TREADLE_CURL_OK ? "" : message;
}

/// The contents of a file, unpacked where it is one of gzip and the length is known.
std::vector<uint8_t> contents_of(std::span<const std::byte> bytes, const DatasetFile& file) {
  const auto stream = open_byte_stream(bytes, file.name);
  std::vector<uint8_t> contents(size_t(std::min(file.bytes, stream->most_bytes())));
  stream->read(contents);
  stream->expect_end();
  return contents;
}

/// What is wrong with a file that came; empty when nothing is, or nothing is known of it.
std::string fault_of(const fs::path& path, const DatasetFile& file) {
  if (file.sha256.empty()) return "";
  try {
    const std::vector<uint8_t> contents = contents_of(read_file(path), file);
    const std::string found = sha256_of(std::as_bytes(std::span(contents)));
    return found == file.sha256 ? "" : fmt::format("its SHA-256 is {}, not {}", found, file.sha256);
  } catch (const FormatError& error) {
    return error.what();
  }
}

/// One file of a set, from whichever mirror has it.
class FileDownload {
 public:
  FileDownload(const DatasetFile& file, const fs::path& folder, const DownloadOptions& options)
      : file_(file), options_(options), part_(folder / file.name) {}

  /// Throws MirrorFailed with the reasons of all.
  void run(const std::vector<std::string>& mirrors) {
    std::string reasons;
    for (const std::string& mirror : mirrors) {
      const std::string url = mirror + file_.name;
      try {
        return get_from(mirror, url);
      } catch (const MirrorFailed& failed) {
        note(fmt::format("{}: {}", url, failed.reason));
        reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", url, failed.reason);
      }
    }
    if (part_.size() == 0) part_.remove();
    throw MirrorFailed{reasons};
  }

 private:
  void note(const std::string& line) const {
    if (options_.on_note) options_.on_note(line);
  }

  /// A file that was gone on with and is wrong may have had a wrong beginning: it is fetched once more from
  /// there.
  void get_from(const std::string& mirror, const std::string& url) {
    const bool had_beginning = part_.size() > 0;
    transfer_all(mirror, url);
    std::string fault = fault_of(part_.path(), file_);
    if (!fault.empty() && had_beginning) {
      note(fmt::format("{}: {}; it is fetched anew", url, fault));
      part_.cut(0);
      transfer_all(mirror, url);
      fault = fault_of(part_.path(), file_);
    }
    if (!fault.empty()) {
      part_.cut(0);
      throw MirrorFailed{fault};
    }
    part_.rename();
  }

  void transfer_all(const std::string& mirror, const std::string& url) {
    std::string broken;
    for (int i = 0; i <= kMostResumes; ++i) {
      Transfer transfer{part_, options_, {file_.name, mirror}};
      broken = transfer_rest(url, transfer);
      if (broken.empty()) return;
      if (transfer.received == 0) break;
      note(fmt::format("{}: {}; going on at byte {}", url, broken, part_.size()));
    }
    throw MirrorFailed{broken};
  }

  const DatasetFile& file_;
  const DownloadOptions& options_;
  PartFile part_;
};

std::string names_of(const std::vector<DatasetFile>& files) {
  std::vector<std::string> names;
  for (const DatasetFile& file : files) names.push_back(file.name);
  return joined_names(names);
}

const DatasetDeclaration& set_to_get(const std::string& name) {
  const DatasetDeclaration* set = dataset_registry().find(name);
  if (!set) throw ValueError(unknown_name("no data set is called", name, dataset_registry().names()));
  require<ValueError>(!set->make, "{} is made by the seed; there is nothing to get", name);
  require<DatasetAbsent>(!set->files.empty(), "{} has no mirror; to get it: {}", name, set->how_to_get);
  return *set;
}

/// Takes what belongs to the set out of an archive, which is not needed any more then.
void unpack(const fs::path& archive, const fs::path& folder, const std::vector<std::string>& members) {
  auto write = [&](const std::string& name, std::span<const std::byte> contents) {
    write_file_atomically(folder / name, [&](FileWriter& writer) { writer.write(contents); });
  };
  try {
    read_tar(read_file(archive), archive.string(), members, write);
    for (const std::string& member : members)
      require<FormatError>(is_file(folder / member), "{}: lacks {}", archive.string(), member);
  } catch (const FormatError& error) {
    fs::remove(archive);
    throw FormatError(fmt::format("{}; it was removed: get it again", error.what()));
  }
  fs::remove(archive);
}

bool is_complete(const DatasetDeclaration& set, const fs::path& folder) {
  const auto there = [&](const std::string& name) { return is_file(folder / name); };
  return !set.members.empty() && std::all_of(set.members.begin(), set.members.end(), there);
}

std::vector<std::string> mirrors_of(const DatasetDeclaration& set, const DownloadOptions& options) {
  std::vector<std::string> mirrors = options.mirrors.empty() ? set.mirrors : options.mirrors;
  for (std::string& mirror : mirrors)
    if (!mirror.ends_with('/')) mirror += '/';
  return mirrors;
}

void get_file(const DatasetDeclaration& set, const DatasetFile& file, const DownloadOptions& options,
              DownloadResult& result) {
  const fs::path target = result.folder / file.name;
  if (is_file(target) && fault_of(target, file).empty()) return;
  try {
    FileDownload(file, result.folder, options).run(mirrors_of(set, options));
  } catch (const MirrorFailed& failed) {
    throw DatasetAbsent(fmt::format("{} did not come: {}. Without a network put {} into {}", file.name,
                                    failed.reason, names_of(set.files), result.folder.string()));
  }
  result.files.push_back(file.name);
  if (file.sha256.empty()) result.unchecked.push_back(file.name);
}

}  // namespace

DownloadResult download_dataset(const std::string& name, const DownloadOptions& options) {
  const DatasetDeclaration& set = set_to_get(name);
  DownloadResult result{options.folder.empty() ? places_of(name).front() : options.folder, {}, {}};
  if (is_complete(set, result.folder)) return result;
  curl();  // before a folder is made
  std::error_code error;
  fs::create_directories(result.folder, error);
  if (error) fail_on_file("make the folder", result.folder, error.value());
  try {
    for (const DatasetFile& file : set.files) get_file(set, file, options, result);
  } catch (const Interrupted&) {
    result.interrupted = true;
    return result;
  }
  if (!set.members.empty()) unpack(result.folder / set.files.front().name, result.folder, set.members);
  return result;
}

std::string downloads_absence() { return plugin().absence; }

}  // namespace treadle
