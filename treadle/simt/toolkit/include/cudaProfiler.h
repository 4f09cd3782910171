#pragma once
#include <cuda_profiler_api.h>
