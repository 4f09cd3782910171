/// The CUDA toolkit's header of this name, for programs on the SIMT executor: all of the runtime and of the
/// device's built-in names, in the global namespace.
#pragma once

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <cstdlib>
#include <new>
#include <utility>

#include <cuda_runtime_api.h>
#include "treadle/simt/toolkit/device_names.h"
#include "treadle/simt/toolkit/launch_api.h"
#include "treadle/simt/toolkit/math_functions.h"
#include "treadle/simt/toolkit/nv_atomics.h"
#include "treadle/simt/toolkit/rounding.h"
#include "treadle/simt/toolkit/video.h"
