/// The area of a block's dynamic shared memory, which all `extern __shared__` arrays of a program are.
#pragma once

#include <string>
#include <vector>

namespace treadle::simt::driver {

/// Assembly that defines the area, by its own name (toolkit/dynamic_shared.h) and by all that the objects
/// declare and none of them defines.
std::string dynamic_shared_assembly(const std::vector<std::string>& objects);

}  // namespace treadle::simt::driver
