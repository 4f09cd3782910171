/// Options of batch normalisation. Light: variants include it.
#pragma once  // public

#include <cstdint>

namespace treadle {

struct BatchNormOptions {
  double epsilon = 1e-5;
  bool relu = false;
  template <class Field>
  static void describe(Field& field) {
    field("epsilon", &BatchNormOptions::epsilon, "added to the variance");
    field("relu", &BatchNormOptions::relu, "whether negative results become 0");
  }
};

struct BatchNormGradientOptions {
  double epsilon = 1e-5;
  bool residual = false, sum = false, relu = false;
  template <class Field>
  static void describe(Field& field) {
    field("epsilon", &BatchNormGradientOptions::epsilon, "added to the variance");
    field("residual", &BatchNormGradientOptions::residual, "whether dz is wanted, too");
    field("sum", &BatchNormGradientOptions::sum, "whether the sum of dx over each channel is wanted, too");
    field("relu", &BatchNormGradientOptions::relu, "whether ReLU was behind x·w + b, without a residual");
  }
};

struct BatchStatisticsOptions {
  double momentum = 0.1;
  bool cumulative = false;
  int64_t count = 0;
  template <class Field>
  static void describe(Field& field) {
    field("momentum", &BatchStatisticsOptions::momentum, "the share of the batch");
    field("cumulative", &BatchStatisticsOptions::cumulative, "all batches count alike instead");
    field("count", &BatchStatisticsOptions::count, "elements of each channel in the batch");
  }
};

}  // namespace treadle
