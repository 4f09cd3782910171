#include "treadle/models/perceptron.h"

#include "treadle/models/model_registry.h"
#include "treadle/ops/layout/views.h"

namespace treadle {
namespace {

const ModelTask kPoints{{2}, 2};

}  // namespace

Perceptron::Perceptron(Generator& generator) : Perceptron(kPoints, generator) {}

Perceptron::Perceptron(const ModelTask& task, Generator& generator)
    : fc_(register_module(
          "fc", std::make_shared<Linear>(checked_numel(task.input), task.classes, true, generator))) {}

Tensor Perceptron::forward(const Tensor& x) { return (*fc_)(flatten(x)); }

namespace models {

void register_perceptron(ModelRegistry& registry) {
  registry.add<Perceptron>(
      {.place = 0,
       .name = "perceptron",
       .description = "one linear layer, 2→2; other inputs and classes as the data set has",
       .input = kPoints.input,
       .classes = kPoints.classes,
       .presets = {{"separable",
                    {{"data", "separable"},
                     {"optimizer", "sgd"},
                     {"learning_rate", "0.5"},
                     {"epochs", "20"},
                     {"batch_size", "16"}},
                    1}}});
}

}  // namespace models
}  // namespace treadle
