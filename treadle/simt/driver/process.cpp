#include "treadle/simt/driver/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "treadle/core/error.h"

namespace treadle::simt::driver {
namespace {

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    bool replaced = false;
    for (const auto& [name, value] : added) replaced |= text.starts_with(name + "=");
    if (!replaced) environment.emplace_back(text);
  }
  for (const auto& [name, value] : added) environment.push_back(name + "=" + value);
  return environment;
}

int code_of(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

class Redirections {
 public:
  Redirections() { posix_spawn_file_actions_init(&actions_); }
  ~Redirections() { posix_spawn_file_actions_destroy(&actions_); }
  Redirections(const Redirections&) = delete;
  Redirections& operator=(const Redirections&) = delete;

  void add(int stream, int file) { posix_spawn_file_actions_adddup2(&actions_, file, stream); }
  void add(int stream, const std::string& file) {
    if (!file.empty())
      posix_spawn_file_actions_addopen(&actions_, stream, file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

/// What a process writes, where somebody hears it.
class Pipe {
 public:
  /// Throws FileError where the system has no more files.
  explicit Pipe(const std::function<void(std::string_view)>& hear) : hear_(hear) {
    if (!hear_) return;
    require<FileError>(pipe2(ends_, O_CLOEXEC) == 0, "no pipe: {}", std::strerror(errno));
    fcntl(ends_[0], F_SETFL, O_NONBLOCK);
  }
  ~Pipe() {
    for (int i : {0, 1}) close_end(i);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  /// -1: nobody hears.
  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_writer() { close_end(1); }
  /// Passes on what has come, or a part: whoever writes without end does not keep others from their turn.
  void pass_on() {
    constexpr int kMost = 16;  // 64 KiB, what a pipe holds
    char bytes[4096];
    for (int i = 0; i < kMost && ends_[0] >= 0; ++i) {
      const ssize_t count = read(ends_[0], bytes, sizeof bytes);
      if (count > 0) hear_({bytes, static_cast<size_t>(count)});
      if (count == 0) close_end(0);
      if (count < 0 && errno != EINTR) return;
    }
  }

 private:
  void close_end(int i) {
    if (ends_[i] >= 0) close(std::exchange(ends_[i], -1));
  }
  const std::function<void(std::string_view)>& hear_;
  int ends_[2] = {-1, -1};
};

/// Becomes readable when the process ends, where the system can tell (Linux 5.3).
class ProcessFile {
 public:
  explicit ProcessFile(pid_t process) : file_(static_cast<int>(syscall(SYS_pidfd_open, process, 0))) {}
  ~ProcessFile() {
    if (file_ >= 0) close(file_);
  }
  ProcessFile(const ProcessFile&) = delete;
  ProcessFile& operator=(const ProcessFile&) = delete;

  /// Returns when the process has ended, or something has come by the other file (-1: none), or a signal has
  /// arrived, or time is up.
  void wait(std::chrono::milliseconds most, int other) const {
    constexpr std::chrono::milliseconds kBetweenLooks{10};
    pollfd waited[] = {{file_, POLLIN, 0}, {other, POLLIN, 0}};
    if (file_ < 0)
      std::this_thread::sleep_for(std::min(most, kBetweenLooks));
    else
      poll(waited, 2, static_cast<int>(most.count()));
  }

 private:
  int file_;
};

/// How long a process's threads were ready and had no processor, the one that waited longest: on a busy
/// machine that is not the process's own time. 0 where the system does not say.
double seconds_without_processor(pid_t process) {
  constexpr double kNanosecond = 1e-9;
  double most = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator thread(fmt::format("/proc/{}/task", process), error), end;
       !error && thread != end; thread.increment(error)) {
    double runs = 0, waits = 0;
    if (std::ifstream(thread->path() / "schedstat") >> runs >> waits)
      most = std::max(most, waits * kNanosecond);
  }
  return most;
}

/// Ends a process that nobody will wait for, because what it says could not be heard.
class Waiting {
 public:
  explicit Waiting(pid_t process) : process_(process) {}
  ~Waiting() {
    if (ended_) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  /// Whether it has ended, and then how.
  bool has_ended(int& status) { return ended_ = waitpid(process_, &status, WNOHANG) != 0; }

 private:
  pid_t process_;
  bool ended_ = false;
};

ProcessEnd wait_for(pid_t child, const Process& process, Pipe& pipe) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kLongest{60'000};
  const auto start = Clock::now();
  const ProcessFile file(child);
  Waiting waiting(child);
  ProcessEnd end;
  bool asked = false;
  int status = 0;
  while (!waiting.has_ended(status)) {
    if (process.stop.stop_requested() && !std::exchange(asked, true)) kill(child, SIGTERM);
    const std::chrono::duration<double> spent = Clock::now() - start;
    double left = process.seconds > 0 ? process.seconds - spent.count() : 1e9;
    if (left <= 0) left += seconds_without_processor(child);
    if (left <= 0 && !std::exchange(end.out_of_time, true)) kill(child, SIGKILL);
    const std::chrono::milliseconds most(static_cast<int64_t>(std::clamp(left, 0.001, 1e6) * 1000));
    file.wait(std::min(kLongest, most), pipe.reader());
    pipe.pass_on();
  }
  pipe.pass_on();
  end.code = code_of(status);
  return end;
}

}  // namespace

ProcessEnd run(const Process& process) {
  std::vector<std::string> words = process.words, environment = environment_with(process.environment);
  Redirections redirections;
  redirections.add(STDOUT_FILENO, process.output);
  redirections.add(STDERR_FILENO, process.messages);
  Pipe pipe(process.hear);
  if (process.hear) redirections.add(STDOUT_FILENO, pipe.writer());
  pid_t child = 0;
  const int failure = posix_spawnp(&child, words[0].c_str(), redirections.get(), nullptr,
                                   pointers_to(words).data(), pointers_to(environment).data());
  require<FileError>(failure == 0, "{} cannot be started: {}", words[0], std::strerror(failure));
  pipe.close_writer();
  return wait_for(child, process, pipe);
}

ReportingEnd run_for_report(Process process) {
  const TemporaryFolder folder;
  const std::string file = folder / "report.json";
  process.environment.emplace_back("TREADLE_SIMT_REPORT", file);
  ReportingEnd result{run(process), ""};
  std::error_code error;
  if (std::filesystem::exists(file, error)) result.report = read_file(file);
  return result;
}

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) parent = "/tmp";
  path_ = (parent / "treadle-simt-XXXXXX").string();
  require<FileError>(mkdtemp(path_.data()) != nullptr, "no temporary folder in {}: {}", parent.string(),
                     std::strerror(errno));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  require<FileError>(file.good() || file.eof(), "{} cannot be read", path);
  return std::move(text).str();
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  require<FileError>(file.good(), "{} cannot be written", path);
}

}  // namespace treadle::simt::driver
