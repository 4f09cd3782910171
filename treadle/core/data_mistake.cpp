#include "treadle/core/data_mistake.h"

#include "treadle/core/error.h"

namespace treadle {

void throw_data_mistake(const char* message, int64_t value, int64_t position, int64_t bound) {
  throw ValueError(fmt::format(fmt::runtime(message), value, position, bound));
}

}  // namespace treadle
