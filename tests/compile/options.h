/// Options of compiled functions that several tests take.
#pragma once

#include "treadle/compile/compile.h"

namespace treadle {

/// The declared order of variants, which eager calls take too.
inline const CompileOptions kDeclared{.measure = false};
inline const CompileOptions kUnfused{.measure = false, .fuse = false};

}  // namespace treadle
