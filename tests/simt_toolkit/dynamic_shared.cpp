// What the driver makes of a program's `extern __shared__` arrays.
#include "treadle/simt/toolkit/dynamic_shared.h"

alignas(128) __thread unsigned char treadle_dynamic_shared[227 * 1024];
