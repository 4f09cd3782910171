/// One logger for the library's messages; a host program may replace it.
#pragma once  // public

#include <functional>
#include <string>
#include <string_view>

#include "treadle/core/export.h"

namespace treadle {

enum class LogLevel { info, warning };

using LogHandler = std::function<void(LogLevel, std::string_view)>;

/// Replaces the handler; the default writes one line to stderr.
TREADLE_API void set_log_handler(LogHandler handler);
TREADLE_API void log(LogLevel level, std::string_view message);
/// Logs a message the first time it is given in this process.
TREADLE_API void log_once(LogLevel level, const std::string& message);

}  // namespace treadle
