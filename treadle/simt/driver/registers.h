/// How many registers a kernel takes, as nvcc says.
#pragma once

#include <map>
#include <string>

#include "treadle/simt/driver/build.h"

namespace treadle::simt::driver {

class Registers {
 public:
  /// Nothing is known.
  Registers() = default;
  /// All kernels take so many.
  explicit Registers(unsigned count) : of_all_(count) {}

  /// Of a thread; 0 where it is unknown. A kernel that is not found by its whole name, as the source spells
  /// arguments of templates in another way, has the most of those with that name.
  unsigned of(const std::string& kernel) const;

  void add(const std::string& kernel, unsigned count) { by_kernel_[kernel] = count; }

 private:
  unsigned of_all_ = 0;
  std::map<std::string, unsigned> by_kernel_;
};

/// From what `nvcc -Xptxas -v` prints.
Registers registers_in(const std::string& messages);

/// Compiles the sources by nvcc, of PATH or /usr/local/cuda, for an architecture (90) without keeping
/// anything. Throws BuildError where there is no nvcc, or it does not take them.
Registers registers_by_nvcc(const BuildOptions& options, unsigned architecture);

}  // namespace treadle::simt::driver
