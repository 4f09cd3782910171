/// Whether cuDNN can be used. Opened at run time, so that the program starts without it.
#pragma once

#include <string>

namespace treadle {

/// Empty when cuDNN can be used, else one sentence saying why not.
std::string cudnn_absence();

}  // namespace treadle
