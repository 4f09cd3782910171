#include "treadle/nn/init.h"

#include <cmath>

#include "treadle/graph/autograd.h"
#include "treadle/ops/random/random.h"

namespace treadle {

void init_uniform_fan_in(const Tensor& parameter, int64_t fan_in, Generator& generator) {
  NoGrad no_grad;
  double bound = fan_in > 0 ? 1 / std::sqrt(double(fan_in)) : 0;
  uniform_(parameter, -bound, bound, generator);
}

}  // namespace treadle
