/// For who watches a kernel from within it.
#pragma once

#include "treadle/simt/target.h"

namespace treadle::TREADLE_TARGET {

/// Lets threads run that can go on and those that have not begun, once each. The running one waits for
/// nothing.
void give_way();

}  // namespace treadle::TREADLE_TARGET
