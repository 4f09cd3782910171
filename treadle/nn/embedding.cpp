#include "treadle/nn/embedding.h"

#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/random/random.h"

namespace treadle {

Embedding::Embedding(int64_t rows, int64_t features, const EmbeddingOptions& options, Generator& generator)
    : options_(options) {
  const int64_t padding = options.padding_index;
  require<ShapeError>(rows >= 0 && features >= 0, "Embedding: {} rows of {} features cannot be negative",
                      rows, features);
  require<ValueError>(padding >= -1 && padding < rows, "Embedding: the padding row {} is none of {} rows",
                      padding, rows);
  weight = register_parameter("weight", randn({rows, features}, DType::f32, kCpu, generator));
  NoGrad no_grad;
  if (padding >= 0) fill_(slice(weight, 0, padding, padding + 1), 0);
}

std::string Embedding::describe() const {
  return fmt::format("Embedding({}, {}{})", weight.size(0), weight.size(1),
                     options_.padding_index < 0 ? "" : fmt::format(", padding {}", options_.padding_index));
}

}  // namespace treadle
