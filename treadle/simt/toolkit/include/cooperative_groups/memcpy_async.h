#pragma once
#include <cooperative_groups.h>

#include "treadle/simt/toolkit/async_copies.h"
