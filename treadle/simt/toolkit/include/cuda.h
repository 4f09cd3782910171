/// CUDA's driver interface: what programs take of it.
#pragma once

#include <stdint.h>
#include <stdlib.h>

#define CUDA_VERSION 12080
#define CUDAAPI
