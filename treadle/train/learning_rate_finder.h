/// A search for a learning rate: short training with a rising rate.
#pragma once  // public

#include <functional>
#include <stop_token>
#include <vector>

#include "treadle/train/fit.h"

namespace treadle {

struct LearningRateSearch {
  double lowest = 1e-7, highest = 10;  ///< the first and the last rate; it grows by the same factor each step
  int64_t steps = 300, batch_size = 32;
  uint64_t seed = 0;  ///< of the order of the examples
  std::stop_token stop = {};
  std::function<void(int64_t step)> on_step = {};  ///< told how many steps are done
};

struct LearningRateCurve {
  std::vector<double> rates, losses;  ///< of each step; losses are smoothed
  /// The rate at which the loss falls fastest by the logarithm of the rate; 0 where it never falls.
  double suggestion = 0;
};

/// Smith, Cyclical Learning Rates, 2017, section 3.3. Losses are smoothed with 0.98 and without bias; the
/// search ends where the smoothed loss is four times the least so far, or not finite. Model, optimizer and
/// default_generator() are as before afterwards. Throws ValueError unless 0 < lowest < highest and steps is
/// at least 10.
TREADLE_API LearningRateCurve find_learning_rate(const FitTask& task, const LearningRateSearch& search);

}  // namespace treadle
