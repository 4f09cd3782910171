/// Other programs, run and waited for.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace treadle::simt::driver {

struct Process {
  std::vector<std::string> words;  ///< the program, looked for in PATH, and its arguments
  /// Files for its output and its messages; empty: ours.
  std::string output = {}, messages = {};
  /// Added to our environment.
  std::vector<std::pair<std::string, std::string>> environment = {};
};

/// Runs it to its end. Returns its exit code, or 128 and the signal that ended it. Throws FileError when it
/// cannot be started.
int run(const Process& process);

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
