/// Names of functions as one reads them.
#pragma once

#include <string>

#include "treadle/core/export.h"

namespace treadle::simt {

/// The name of a kernel or device function without its parameters: "scale<float>" of "scale<float>(float*)".
TREADLE_API std::string without_parameters(const std::string& function);

/// Out of a symbol of the linker; the symbol itself where it is none of C++.
TREADLE_API std::string demangled(const char* symbol);

}  // namespace treadle::simt
