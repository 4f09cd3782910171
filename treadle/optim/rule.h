/// What the header of a rule includes: what a rule is, and what makes an optimizer of it. Variants, which are
/// compiled for devices too, need the rule alone.
#pragma once  // public

#include "treadle/ops/update/rule.h"
#ifndef TREADLE_RULE_ALONE
#include "treadle/optim/rule_optimizer.h"
#endif

namespace treadle {

template <class Options>
class OptimizerWith;

}  // namespace treadle
