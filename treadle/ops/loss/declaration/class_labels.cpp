#include "treadle/ops/loss/declaration/class_labels.h"

#include "treadle/core/error.h"

namespace treadle {

void check_labels(const char* op, const TensorSpec& x, const TensorSpec& labels) {
  require<ShapeError>(x.shape.rank() == 2 && labels.shape.rank() == 1 && x.shape[0] == labels.shape[0],
                      "{}: x has shape {}, expected [N, C], and labels {}, expected [N]", op, x.shape,
                      labels.shape);
  require<DTypeError>(labels.dtype == DType::i64 || labels.dtype == DType::i32,
                      "{}: labels are {}, not i64 or i32", op, name_of(labels.dtype));
}

void check_classes(const char* op, const Shape& x) {
  require<ShapeError>(x.numel() > 0 || x[0] == 0, "{}: x has shape {}: no classes", op, x);
}

void check_class_weight(const char* op, const TensorSpec& x, const TensorSpec& weight) {
  if (!weight.defined) return;
  require<ShapeError>(weight.shape == Shape{x.shape[1]}, "{}: weight has shape {}, x {} expects [{}]", op,
                      weight.shape, x.shape, x.shape[1]);
  require<DTypeError>(weight.dtype == x.dtype, "{}: x is {} and weight {}", op, name_of(x.dtype),
                      name_of(weight.dtype));
}

TestInput labels_input(int64_t samples, int64_t classes, DType dtype) {
  return {.shape = {samples},
          .fill = {TestFill::integers, 0, double(classes - 1)},
          .dtype = {dtype},
          .differentiable = false};
}

std::vector<RefusedCall> refused_labels() {
  const TestInput x{{2, 3}};
  auto labels = [](double value) {
    return TestInput{.shape = {2}, .fill = {TestFill::constant, value}, .dtype = {DType::i64}};
  };
  return {refuses<ShapeError>({x, {.shape = {3}, .dtype = {DType::i64}}}, {"[2, 3]", "[3]"}),
          refuses<ShapeError>({{{2}}, labels(0)}, {"[2]"}),
          refuses<ShapeError>({{{2, 0}}, labels(0)}, {"[2, 0]"}),
          refuses<DTypeError>({x, {{2}}}, {"f32", "i64"}),
          refuses<ValueError>({x, labels(3)}, {"label 3", "3 classes"}),
          refuses<ValueError>({x, labels(-1)}, {"label -1"})};
}

std::vector<RefusedCall> refused_class_weights() {
  const TestInput x{{2, 3}}, labels = labels_input(2, 3);
  return {refuses<ShapeError>({x, labels, {{2}}}, {"weight has shape [2]", "[3]"}),
          refuses<DTypeError>({x, labels, {.shape = {3}, .dtype = {DType::f64}}}, {"f32", "weight f64"})};
}

}  // namespace treadle
