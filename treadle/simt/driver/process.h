/// Other programs, run and waited for.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace treadle::simt::driver {

struct Process {
  std::vector<std::string> words;  ///< the program, looked for in PATH, and its arguments
  /// Files for its output and its messages; empty: ours.
  std::string output = {}, messages = {};
  /// Gets its output as it comes, in place of a file.
  std::function<void(std::string_view)> hear = {};
  /// Added to our environment.
  std::vector<std::pair<std::string, std::string>> environment = {};
  double seconds = 0;         ///< it is killed after so long, waiting for a processor aside; 0: never
  std::stop_token stop = {};  ///< it is asked to end (SIGTERM) when this is requested
};

struct ProcessEnd {
  int code = 0;  ///< its exit code, or 128 and the signal that ended it
  bool out_of_time = false;
};

/// Runs it to its end. Throws FileError when it cannot be started.
ProcessEnd run(const Process& process);

/// How a program ended, and what it has written to the file that TREADLE_SIMT_REPORT names; empty: nothing.
struct ReportingEnd {
  ProcessEnd end;
  std::string report;
};
/// Runs a program that reports. Throws as run() does.
ReportingEnd run_for_report(Process process);

/// A folder of our own for a while, with all that is put into it.
class TemporaryFolder {
 public:
  /// Throws FileError where none can be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// A file's contents. Throws FileError.
std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& text);

}  // namespace treadle::simt::driver
