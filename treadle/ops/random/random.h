/// Random tensors: functions of a generator's seed and position, whatever the device and the number of
/// threads.
///
/// Element i in row-major order is lane i mod 4 of Philox block offset + ⌊i / 4⌋; each call takes ⌈elements /
/// 4⌉ blocks. Uniform values and decisions have the same bits on every device, normal values agree within 6
/// ulp of z. In a compiled function each replay goes on in the default generator's sequence. The position of
/// another generator is fixed there: right for one that the function makes, noticed at the second call for
/// one that it captures.
#pragma once  // public

#include "treadle/core/random.h"
#include "treadle/core/tensor.h"

namespace treadle {

struct Op;

/// Fills x with low + u·(high - low), u = k·2^-24 in [0, 1). Rounding may reach `high`, which in the half
/// types is common. Throws ValueError unless low ≤ high and both and their distance are finite.
TREADLE_API void uniform_(const Tensor& x, double low = 0, double high = 1,
                          Generator& generator = default_generator());
/// Fills x with normal values (Box and Muller, A Note on the Generation of Random Normal Deviates, 1958);
/// none lies more than 5.8 deviations from the mean. Throws ValueError for a negative deviation and numbers
/// that are not finite.
TREADLE_API void normal_(const Tensor& x, double mean = 0, double deviation = 1,
                         Generator& generator = default_generator());
/// Fills x, of any dtype, with 1 where u < probability and 0 elsewhere. Throws ValueError outside [0, 1].
TREADLE_API void bernoulli_(const Tensor& x, double probability = 0.5,
                            Generator& generator = default_generator());

/// The op itself, which takes any value in place of 1.
TREADLE_API const Op& bernoulli_op();

/// Uniform in [0, 1).
TREADLE_API Tensor rand(const Shape& shape, DType dtype = DType::f32, Device device = kCpu,
                        Generator& generator = default_generator());
/// Standard normal.
TREADLE_API Tensor randn(const Shape& shape, DType dtype = DType::f32, Device device = kCpu,
                         Generator& generator = default_generator());

}  // namespace treadle
