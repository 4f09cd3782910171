#include "treadle/graph/attributes.h"

#include "treadle/core/error.h"

namespace treadle {

void Attributes::throw_wrong_type() { throw ValueError("an op was given the options of another op"); }

}  // namespace treadle
