/// Kernel launches in CUDA's notation, as calls of simt/launch_syntax.h.
#pragma once

#include <string>

#include "treadle/simt/driver/source.h"

namespace treadle::simt::driver {

/// Whether the three `<` of a launch begin at token `i`.
bool begins_launch(const Source& source, size_t i);

/// Changes the launch whose three `<` begin at token `i`. Throws SourceError where it has no kernel or no
/// end.
void translate_launch(Source& source, size_t i, const std::string& target);

/// cudaLaunchKernel((void*)kernel, …): takes the kernel's type away from no one.
void translate_launch_call(Source& source, size_t i);

}  // namespace treadle::simt::driver
