/// Embedding layer.
#pragma once  // public

#include "treadle/core/random.h"
#include "treadle/nn/module.h"
#include "treadle/ops/layout/embedding.h"

namespace treadle {

/// Rows of weight [rows, features], by numbers: x [...] of i64 or i32 → y [..., features]. Standard normal at
/// first; the padding row, where there is one, is 0 and stays what it is. Throws ShapeError for negative
/// extents, ValueError for a padding row that is none of them.
class TREADLE_API Embedding final : public Module {
 public:
  Embedding(int64_t rows, int64_t features, const EmbeddingOptions& options = {},
            Generator& generator = default_generator());
  std::string describe() const override;

  Tensor weight;

 protected:
  Tensor forward(const Tensor& x) override { return embedding(weight, x, options_); }

 private:
  EmbeddingOptions options_;
};

}  // namespace treadle
