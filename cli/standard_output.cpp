#include "cli/standard_output.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/command.h"

namespace treadle::cli {

void print_json(const Json& object) { fmt::print("{}\n", object.text()); }

void print_error(const std::string& line) { std::fputs((line + "\n").c_str(), stderr); }

/// Open for reading only: the system gives the lowest free number, and writing to it is an error.
void occupy_standard_streams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) == -1 && open("/dev/null", O_RDONLY) == -1) std::abort();
}

int finish_output(int code) {
  const bool failed_before = std::ferror(stdout) != 0;
  // The reason of an earlier failure is gone: it shows once more.
  if (failed_before) std::clearerr(stdout), std::fputc('\n', stdout);
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  const int reason = errno;
  if (flushed && !failed_before) return code;
  print_error(fmt::format("treadle: cannot write to standard output{}{}", flushed ? "" : ": ",
                          flushed ? "" : std::strerror(reason)));
  return code == kSuccess ? kFailed : code;
}

}  // namespace treadle::cli
