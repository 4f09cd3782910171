/// DeviceCode: which tokens lie in the bodies of functions that run on the device.
#pragma once

#include "treadle/simt/driver/source.h"

namespace treadle::simt::driver {

/// Told of each token in order.
class DeviceCode {
 public:
  void see(const Source& source, size_t i);

  /// In the body of a `__global__` or `__device__` function, be it `__host__`, too.
  bool inside() const { return body_ != kOutside; }
  /// In a body that the host cannot run.
  bool inside_device_only() const { return inside() && !for_host_; }

 private:
  static constexpr int kOutside = -1;
  void end_declaration() { device_ = host_ = false; }

  int braces_ = 0, parentheses_ = 0;
  bool device_ = false, host_ = false;  ///< qualifiers of the declaration that is being read
  int declared_in_ = 0;                 ///< parentheses around that declaration
  int body_ = kOutside;                 ///< braces around the body that is being read
  bool for_host_ = false;
};

}  // namespace treadle::simt::driver
