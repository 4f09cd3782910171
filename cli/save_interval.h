/// --checkpoint-every: so many steps ("100") or seconds ("30s").
#pragma once

#include <string>

#include "cli/option.h"
#include "treadle/train/fit.h"

namespace treadle::cli {

OptionCheck save_interval();

/// Throws ValueError, a sentence that begins with the text, for what save_interval() refuses.
SaveInterval read_save_interval(const std::string& text);

}  // namespace treadle::cli
