/// What losses of classes ask of x [N, C], of labels [N] and of a weight [C] of each class, with the test
/// inputs and refused calls that follow.
#pragma once

#include <vector>

#include "treadle/graph/spec.h"
#include "treadle/graph/test_case.h"

namespace treadle {

/// Throws ShapeError, DTypeError.
void check_labels(const char* op, const TensorSpec& x, const TensorSpec& labels);

/// Throws ShapeError where there are samples and no classes.
void check_classes(const char* op, const Shape& x);

/// Throws ShapeError, DTypeError, unless the weight is undefined.
void check_class_weight(const char* op, const TensorSpec& x, const TensorSpec& weight);

TestInput labels_input(int64_t samples, int64_t classes, DType dtype = DType::i64);

/// Operands that do not fit, and labels out of range.
std::vector<RefusedCall> refused_labels();

std::vector<RefusedCall> refused_class_weights();

}  // namespace treadle
