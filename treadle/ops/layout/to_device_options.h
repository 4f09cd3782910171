/// Options of the to_device op.
#pragma once

#include <string>

namespace treadle {

struct ToDeviceOptions {
  std::string device = "cpu";
  std::string origin = "cpu";
  template <class Field>
  static void describe(Field& field) {
    field("device", &ToDeviceOptions::device, "where the result lies");
    field("origin", &ToDeviceOptions::origin, "where the input lies, and its gradient goes back to");
  }
};

}  // namespace treadle
