/// The library's version.
#pragma once

#include "treadle/core/export.h"

namespace treadle {

/// "MAJOR.MINOR.PATCH"
TREADLE_API const char* version();

}  // namespace treadle
