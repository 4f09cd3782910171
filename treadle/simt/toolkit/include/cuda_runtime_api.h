/// The CUDA runtime's host interface.
#pragma once

#include "treadle/simt/toolkit/device_api.h"
#include "treadle/simt/toolkit/error_api.h"
#include "treadle/simt/toolkit/memory_api.h"
#include "treadle/simt/toolkit/stream_api.h"
#include "treadle/simt/toolkit/version.h"

#define CUDART_VERSION TREADLE_CUDA_VERSION

using namespace treadle::TREADLE_TARGET::cuda_names;
