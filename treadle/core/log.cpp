#include "treadle/core/log.h"

#include <fmt/core.h>

#include <cstdio>
#include <mutex>
#include <set>

namespace treadle {
namespace {

std::mutex log_mutex;

LogHandler& handler() {
  static auto& current = *new LogHandler([](LogLevel level, std::string_view message) {
    auto line = fmt::format("treadle: {}{}\n", level == LogLevel::warning ? "warning: " : "", message);
    std::fputs(line.c_str(), stderr);  // a message that cannot be written is no error
  });
  return current;
}

}  // namespace

void set_log_handler(LogHandler new_handler) {
  std::lock_guard lock(log_mutex);
  handler() = std::move(new_handler);
}

void log(LogLevel level, std::string_view message) {
  LogHandler current;
  {
    std::lock_guard lock(log_mutex);
    current = handler();
  }
  if (current) current(level, message);  // outside the lock: a handler may log
}

void log_once(LogLevel level, const std::string& message) {
  static auto& seen = *new std::set<std::string>;
  {
    std::lock_guard lock(log_mutex);
    if (!seen.insert(message).second) return;
  }
  log(level, message);
}

}  // namespace treadle
