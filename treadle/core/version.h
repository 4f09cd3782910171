/// The library's version.
#pragma once  // public

#include "treadle/core/export.h"

namespace treadle {

/// "MAJOR.MINOR.PATCH"
TREADLE_API const char* version();

}  // namespace treadle
