#include "treadle/train/run_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <utility>

#include "treadle/core/error.h"
#include "treadle/core/log.h"
#include "treadle/formats/file.h"
#include "treadle/formats/file_lock.h"

namespace treadle {
namespace {

namespace fs = std::filesystem;

constexpr const char *kLast = "last.safetensors", *kBest = "best.safetensors", *kConfig = "config.toml",
                     *kMetrics = "metrics.jsonl", *kLock = ".lock";

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// Makes the folder; false when it was there.
bool make_folder(const fs::path& path) {
  std::error_code error;
  bool made = fs::create_directories(path, error);
  if (error) fail_on_file("make the folder", path, error.value());
  return made;
}

/// Told to whoever finds the folder locked.
std::string holder_text() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  return fmt::format("process {} on {} since {:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", ::getpid(),
                     host.data(), utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min,
                     utc.tm_sec);
}

std::string read_holder(const LockedFile& lock) {
  std::array<char, 512> text{};
  ssize_t count = ::pread(lock.descriptor(), text.data(), text.size(), 0);
  return count > 0 ? std::string(text.data(), size_t(count)) : "another process";
}

/// A text that cannot be written is left out: it is for people, the lock is what counts.
void write_holder(const LockedFile& lock) {
  const std::string text = holder_text();
  if (::ftruncate(lock.descriptor(), 0) != 0 || ::pwrite(lock.descriptor(), text.data(), text.size(), 0) < 0)
    log(LogLevel::warning, fmt::format("the lock of the run folder does not name its holder: {}", text));
}

std::unique_ptr<LockedFile> take(const fs::path& folder) {
  auto lock = std::make_unique<LockedFile>(folder / kLock, folder, false);
  require<FileError>(lock->state() != LockState::held_elsewhere,
                     "the run folder {} is in use by {}; wait for its end or name another folder",
                     folder.string(), read_holder(*lock));
  if (lock->state() == LockState::unsupported)
    log(LogLevel::warning,
        fmt::format("{} lies on a file system without locks: nothing keeps other processes out",
                    folder.string()));
  write_holder(*lock);
  return lock;
}

std::string new_run_name() {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("{:x}-{}", std::chrono::duration_cast<std::chrono::microseconds>(now).count(),
                     ::getpid());
}

std::string text_of(const fs::path& path) {
  if (!is_there(path)) return "";
  std::vector<std::byte> bytes = read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.push_back(text.substr(begin, end - begin));
  return lines;
}

/// What metrics.jsonl must hold when `last` is the state: of `text` the lines of earlier epochs, then its
/// own.
std::string metrics_until(const Checkpoint& last, const std::string& text) {
  const std::string& own = last.progress.metrics;
  const int64_t limit = own.empty() ? last.epoch : last.epoch - 1;
  std::string kept;
  int64_t before = 0;
  for (const std::string& line : lines_of(text)) {
    const auto figures = read_figures(line);
    if (!figures || figures->epoch <= before || figures->epoch > limit) continue;
    kept += line + "\n";
    before = figures->epoch;
  }
  return own.empty() ? kept : kept + own + "\n";
}

/// Whether the state is that of the end of its last epoch, not of the middle of the next one.
bool is_end_of_epoch(const Checkpoint& checkpoint) { return checkpoint.progress.examples == 0; }

}  // namespace

bool RunFolder::holds_run(const fs::path& path) {
  for (const char* name : {kLast, kBest, kConfig, kMetrics})
    if (is_there(path / name)) return true;
  return false;
}

fs::path RunFolder::model_file(const fs::path& path) {
  const fs::path last = path / kLast, best = path / kBest;
  if (!is_there(best)) return last;
  if (!is_there(last)) return best;
  const Checkpoint state = load_checkpoint(last);
  bool has_best = state.progress.best_epoch > 0 || state.chosen_on_test_set;
  return has_best && load_checkpoint(best).progress.run == state.progress.run ? best : last;
}

RunFolder::RunFolder(const fs::path& path) : RunFolder(path, make_folder(path)) {}

RunFolder::RunFolder(const fs::path& path, bool made)
    : path_(path), made_(made), lock_(take(path)), run_(new_run_name()) {
  for (const char* name : {kLast, kBest, kConfig, kMetrics}) remove_stale_temporaries(path_ / name);
}

std::unique_ptr<RunFolder> RunFolder::make_new(const fs::path& base) {
  if (base.has_parent_path()) make_folder(base.parent_path());
  fs::path path = base;
  for (int number = 2; ::mkdir(path.c_str(), 0777) != 0; ++number) {
    if (errno != EEXIST) fail_on_file("make the folder", path, errno);
    path = base;
    path += fmt::format("-{}", number);
  }
  return std::unique_ptr<RunFolder>(new RunFolder(path, true));
}

RunFolder::~RunFolder() {
  // Still locked: whoever waits for this file finds, once it has the lock, that the file has no name any
  // more.
  ::unlink((path_ / kLock).c_str());
  if (made_) ::rmdir(path_.c_str());  // fails where there is anything to keep
}

std::vector<EpochFigures> RunFolder::epochs_in(const fs::path& path) {
  std::vector<EpochFigures> epochs;
  for (const std::string& line : lines_of(text_of(path / kMetrics)))
    if (auto figures = read_figures(line)) epochs.push_back(std::move(*figures));
  return epochs;
}

fs::path RunFolder::last_file() const { return path_ / kLast; }
fs::path RunFolder::best_file() const { return path_ / kBest; }

void RunFolder::write_metrics(const Checkpoint& last) {
  const fs::path metrics = path_ / kMetrics;
  replace_text(metrics, metrics_until(last, text_of(metrics)));
  epochs_written_ = last.epoch;
}

std::string RunFolder::config_head() const { return fmt::format("run = '{}'\n", run_); }

void RunFolder::write_config() const {
  if (!config_.empty()) replace_text(path_ / kConfig, config_head() + config_);
}

std::optional<Checkpoint> RunFolder::restore(const Checkpoint& last) {
  if (!last.progress.run.empty()) run_ = last.progress.run;
  write_metrics(last);
  restored_ = true;
  if (!text_of(path_ / kConfig).starts_with(config_head())) write_config();
  if (last.progress.best_epoch == 0) return std::nullopt;
  if (is_there(best_file())) {
    Checkpoint best = load_checkpoint(best_file());
    if (best.progress.run == run_ && best.epoch == last.progress.best_epoch) return best;
  }
  if (last.progress.best_epoch == last.epoch && is_end_of_epoch(last)) {
    save_checkpoint(best_file(), last);
    return last;
  }
  log(LogLevel::warning, fmt::format("{} is not that of epoch {}, the best so far; the best of the epochs to "
                                     "come replaces it",
                                     best_file().string(), last.progress.best_epoch));
  return std::nullopt;
}

void RunFolder::save(Checkpoint checkpoint, bool best) {
  checkpoint.progress.run = run_;
  save_checkpoint(last_file(), checkpoint);
  if (!saved_ && !restored_) {
    write_metrics(checkpoint);
    std::error_code ignored;
    if (!best) fs::remove(best_file(), ignored);
  } else if (checkpoint.epoch > epochs_written_) {
    append_to_file(path_ / kMetrics, checkpoint.progress.metrics + "\n", true);
    epochs_written_ = checkpoint.epoch;
  }
  if (!std::exchange(saved_, true)) write_config();
  if (best) save_checkpoint(best_file(), checkpoint);
}

}  // namespace treadle
