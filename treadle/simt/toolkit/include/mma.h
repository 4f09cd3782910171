/// CUDA's wmma.
#pragma once

#include <cuda_fp16.h>
#include "treadle/simt/wmma.h"

namespace nvcuda {
namespace wmma = treadle::TREADLE_TARGET::wmma;
}
