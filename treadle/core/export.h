/// Marks what the shared library exports; everything else stays hidden.
#pragma once

#define TREADLE_API __attribute__((visibility("default")))
