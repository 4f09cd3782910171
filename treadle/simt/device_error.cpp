#include "treadle/simt/device_error.h"

#include <string>

#include "treadle/core/error.h"

namespace treadle {

void throw_device_error(const char* what, const char* detail) {
  throw DeviceError(std::string(what) + ": " + detail);
}

}  // namespace treadle
