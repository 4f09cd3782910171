/// A program's dynamic shared memory.
#pragma once

#include "treadle/simt/target.h"

/// The area that all `extern __shared__` arrays are, of the thread that runs a block: 227 KiB, aligned to
/// 128. The driver defines it with the program (driver/dynamic_shared.h).
extern "C" __thread unsigned char treadle_dynamic_shared[];
