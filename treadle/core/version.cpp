#include "treadle/core/version.h"

namespace treadle {

const char* version() { return TREADLE_VERSION; }

}  // namespace treadle
