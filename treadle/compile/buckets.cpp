#include "treadle/compile/buckets.h"

#include <algorithm>

#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"

namespace treadle {
namespace {

int64_t rows_of(std::span<const Tensor> arguments) {
  for (const Tensor& argument : arguments) {
    require<ShapeError>(argument.rank() > 0, "a batch is cut by rows, but an argument has no axes");
    require<ShapeError>(argument.size(0) == arguments[0].size(0), "a batch has arguments of {} and {} rows",
                        arguments[0].size(0), argument.size(0));
  }
  require<ShapeError>(!arguments.empty(), "a batch has no arguments to count the rows of");
  return arguments[0].size(0);
}

Shape with_rows(Shape shape, int64_t rows) {
  shape[0] = rows;
  return shape;
}

/// Rows [begin, begin + count) followed by zeros up to `bucket` rows.
Tensor piece_of(const Tensor& argument, int64_t begin, int64_t count, int64_t bucket) {
  Tensor rows = slice(argument, 0, begin, begin + count);
  if (count == bucket) return rows;
  Tensor padded = Tensor::empty(with_rows(argument.shape(), bucket), argument.dtype(), argument.device());
  copy_into(slice(padded, 0, 0, count), rows);
  fill_(slice(padded, 0, count, bucket), 0);
  return padded;
}

void put_rows(std::vector<Tensor>& results, const std::vector<Tensor>& piece, int64_t begin, int64_t count,
              int64_t bucket, int64_t rows) {
  results.resize(piece.size());
  for (size_t i = 0; i < piece.size(); ++i) {
    require<ShapeError>(piece[i].rank() > 0 && piece[i].size(0) == bucket,
                        "a function called in buckets of {} rows returns a tensor {}, not one row for each",
                        bucket, piece[i].shape());
    if (!results[i].defined())
      results[i] = Tensor::empty(with_rows(piece[i].shape(), rows), piece[i].dtype(), piece[i].device());
    copy_into(slice(results[i], 0, begin, begin + count), slice(piece[i], 0, 0, count));
  }
}

}  // namespace

std::vector<Tensor> call_in_buckets(const BatchFunction& function, const std::vector<int64_t>& buckets,
                                    std::span<const Tensor> arguments) {
  NoGrad no_grad;
  int64_t rows = rows_of(arguments);
  std::vector<Tensor> results;
  for (int64_t begin = 0; begin < std::max<int64_t>(rows, 1); begin += buckets.back()) {
    int64_t count = std::min(rows - begin, buckets.back());
    int64_t bucket = *std::lower_bound(buckets.begin(), buckets.end(), count);
    std::vector<Tensor> piece;
    for (const Tensor& argument : arguments) piece.push_back(piece_of(argument, begin, count, bucket));
    put_rows(results, function(piece), begin, count, bucket, rows);
  }
  return results;
}

}  // namespace treadle
