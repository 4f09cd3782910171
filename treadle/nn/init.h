/// Initialisation of parameters, in place and beside any graph: layers begin with PyTorch's defaults, and
/// what should begin otherwise is filled anew:
///
///     for (auto& [name, parameter] : model.named_parameters())
///       if (parameter.rank() >= 2) init_kaiming_normal(parameter);
///
/// Numbers come from the generator; equal seeds give equal parameters. All throw ValueError for an undefined
/// parameter and for numbers that are not finite, DTypeError for one that is not floating.
#pragma once  // public

#include <cstdint>
#include <string>

#include "treadle/core/random.h"
#include "treadle/core/tensor.h"

namespace treadle {

/// Fills with U(-b, b), b = 1/√fan_in: PyTorch's default for weights (Kaiming uniform with a = √5; He et al.,
/// 2015) and for biases of linear and convolution layers.
TREADLE_API void init_uniform_fan_in(const Tensor& parameter, int64_t fan_in, Generator& generator);

TREADLE_API void init_constant(const Tensor& parameter, double value);
/// U(low, high). Throws ValueError unless low ≤ high.
TREADLE_API void init_uniform(const Tensor& parameter, double low = 0, double high = 1,
                              Generator& generator = default_generator());
/// N(mean, deviation²). Throws ValueError for a negative deviation.
TREADLE_API void init_normal(const Tensor& parameter, double mean = 0, double deviation = 1,
                             Generator& generator = default_generator());
/// N(mean, deviation²) of numbers within [low, high], by rejection (von Neumann, Various Techniques Used in
/// Connection with Random Digits, 1951). The bounds may be infinite. Throws ValueError unless low < high and
/// the deviation is positive.
TREADLE_API void init_truncated_normal(const Tensor& parameter, double mean = 0, double deviation = 1,
                                       double low = -2, double high = 2,
                                       Generator& generator = default_generator());

/// How many numbers an element of a layer's output is made of, and how many an element of its input goes to.
struct Fans {
  int64_t in, out;
};

/// Of a weight [out, in] or filters [K, C/groups, R, S, …]: in·R·S and out/groups·R·S. PyTorch leaves groups
/// out of account. Throws ShapeError for fewer than two axes, ValueError for groups that do not divide K.
TREADLE_API Fans fans_of(const Tensor& weight, int64_t groups = 1);

/// What keeps the variance behind a function, as PyTorch has it: "linear", "sigmoid" 1, "tanh" 5/3, "relu"
/// √2, "leaky_relu" √(2 / (1 + slope²)), "selu" 3/4. Throws ValueError for another name.
TREADLE_API double calculate_gain(const std::string& nonlinearity, double slope = 0.01);

/// Variance gain²·2 / (in + out) of the fans (Glorot and Bengio, Understanding the Difficulty of Training
/// Deep Feedforward Neural Networks, 2010). Throws ShapeError and ValueError as fans_of(), and for a negative
/// gain.
TREADLE_API void init_xavier_uniform(const Tensor& weight, double gain = 1, int64_t groups = 1,
                                     Generator& generator = default_generator());
TREADLE_API void init_xavier_normal(const Tensor& weight, double gain = 1, int64_t groups = 1,
                                    Generator& generator = default_generator());

/// Which fan keeps its variance: that of the results, or that of the gradients.
enum class FanMode : uint8_t { in, out };

struct KaimingOptions {
  FanMode mode = FanMode::in;
  std::string nonlinearity = "relu";
  double slope = 0.01;
  int64_t groups = 1;
};

/// Variance gain² / fan (He, Zhang, Ren and Sun, Delving Deep into Rectifiers, 2015). Throws as fans_of() and
/// calculate_gain().
TREADLE_API void init_kaiming_uniform(const Tensor& weight, const KaimingOptions& options = {},
                                      Generator& generator = default_generator());
TREADLE_API void init_kaiming_normal(const Tensor& weight, const KaimingOptions& options = {},
                                     Generator& generator = default_generator());

/// Rows, of all further axes together, that are orthogonal and gain long, or such columns where there are
/// more rows: uniform among such matrices, by Gram and Schmidt in double, twice (Saxe, McClelland and
/// Ganguli, Exact Solutions to the Nonlinear Dynamics of Learning in Deep Linear Neural Networks, 2014).
/// Throws ShapeError for fewer than two axes, ValueError for a negative gain.
TREADLE_API void init_orthogonal(const Tensor& weight, double gain = 1,
                                 Generator& generator = default_generator());

}  // namespace treadle
