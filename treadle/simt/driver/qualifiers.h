/// CUDA's words in declarations, as the host compiler takes them.
#pragma once

#include "treadle/simt/driver/source.h"

namespace treadle::simt::driver {

/// Changes the identifier at `i` where it is such a word. Throws SourceError for one that is not supported.
void translate_qualifier(Source& source, size_t i);

}  // namespace treadle::simt::driver
