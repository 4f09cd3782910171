/// From the words behind the program's name to the command that they choose.
#pragma once

#include <functional>
#include <string>

#include "cli/command.h"

namespace treadle::cli {

/// What the words say: run `action`, or end with `code` where there is none. Then all has been said, on
/// stdout (help, version) or stderr (what is wrong with the words).
struct Choice {
  std::function<int()> action = {};
  int code = kSuccess;
};

/// Sets the options of the chosen command; `commands` must outlive the action.
Choice choose(const Commands& commands, int count, char** words);

}  // namespace treadle::cli
