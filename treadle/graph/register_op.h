/// Ops of a program's own.
#pragma once  // public

#include "treadle/graph/op.h"

namespace treadle {

/// Adds an op, which is then known by its name as the library's are, and returns what apply() takes. It runs
/// by its body in terms of other ops (`compose`) or by its variants, and in compiled functions. To be called
/// while no other thread uses ops. Throws ValueError where the name is taken, where there is no shape rule,
/// and where nothing could run it.
TREADLE_API const Op& register_op(Op op);

}  // namespace treadle
