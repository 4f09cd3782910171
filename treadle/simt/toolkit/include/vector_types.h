#pragma once
#include "treadle/simt/vector_types.h"
