/// What comes before the elements of an .npy file. Internal to formats/.
#pragma once

#include <string>

#include "treadle/core/tensor.h"

namespace treadle {

/// Magic, version and header of version 1.0, so long that the elements behind it are aligned.
std::string npy_head(const Tensor& tensor);

}  // namespace treadle
