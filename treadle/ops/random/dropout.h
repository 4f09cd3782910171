/// Dropout: elements left out at random.
#pragma once  // public

#include "treadle/core/random.h"
#include "treadle/core/tensor.h"

namespace treadle {

/// y = x / (1 - probability), but 0 with the given probability, for each element on its own. Nothing but the
/// position in the generator's sequence is kept for the gradient, dropout of dy there. The generator is taken
/// as by the functions of random.h. Srivastava, Hinton, Krizhevsky, Sutskever and Salakhutdinov, Dropout: A
/// Simple Way to Prevent Neural Networks from Overfitting, 2014. Throws ValueError outside [0, 1].
TREADLE_API Tensor dropout(const Tensor& x, double probability = 0.5,
                           Generator& generator = default_generator());

}  // namespace treadle
