/// throw_device_error: how code in `.cu` files throws, without including the error header.
#pragma once

namespace treadle {

/// Throws DeviceError("<what>: <detail>").
[[noreturn]] void throw_device_error(const char* what, const char* detail);

}  // namespace treadle
