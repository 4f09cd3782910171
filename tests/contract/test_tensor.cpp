#include "tests/contract/test_tensor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace treadle::contract {

DType dtype_of_input(const TestInput& input, DType under_test) {
  if (input.dtype.empty()) return under_test;
  return input.dtype[size_t(under_test) % input.dtype.size()];
}

double smallest_normal(DType dtype) {
  return dtype == DType::f64 ? 0x1p-1022 : dtype == DType::f16 ? 0x1p-14 : 0x1p-126;
}

double rounded(double value, DType dtype) {
  return with_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>)
      return value != 0 ? 1.0 : 0.0;
    else if constexpr (std::is_integral_v<T>)
      return double(T(int64_t(value)));
    else
      return double(T(value));
  });
}

namespace {

/// Distinct values spread evenly over the range, shuffled; inputs of one case are offset against one another.
void fill_apart(std::vector<double>& values, const TestFill& fill, int index, std::mt19937_64& random) {
  double step = (fill.high - fill.low) / double(std::max<size_t>(values.size(), 1));
  for (size_t i = 0; i < values.size(); ++i) values[i] = fill.low + (double(i) + 0.37 + 0.11 * index) * step;
  std::shuffle(values.begin(), values.end(), random);
}

bool is_special(const TestFill& fill) {
  return fill.kind == TestFill::with_nan || fill.kind == TestFill::with_infinity;
}

/// Every second of input 0, every third of input 1, …: alone, and with those of other inputs.
void make_some_subnormal(std::vector<double>& values, const TestFill& fill, int index, DType dtype) {
  for (size_t i = 0; i < values.size(); i += size_t(index) + 2) {
    const double size = smallest_normal(dtype) * double(i % 97 + 1) / 98;
    values[i] = fill.low < 0 && i % 5 < 2 ? -size : size;
  }
}

/// Few enough that most results are ordinary numbers still.
void make_some_special(std::vector<double>& values, const TestFill& fill) {
  constexpr size_t kFirst = 100, kStep = 211;
  double special = fill.kind == TestFill::with_nan ? std::numeric_limits<double>::quiet_NaN()
                                                   : std::numeric_limits<double>::infinity();
  for (size_t i = kFirst; i < values.size(); i += kStep) values[i] = special, special = -special;
}

/// Integers are ordinary numbers where the fill asks for others.
void fill_values(std::vector<double>& values, const TestFill& fill, int index, bool may_be_special,
                 std::mt19937_64& random) {
  if (fill.kind == TestFill::apart) return fill_apart(values, fill, index, random);
  for (double& value : values) {
    double u = double(random() >> 11) * 0x1p-53;
    if (fill.kind == TestFill::uniform || fill.kind == TestFill::with_subnormal || is_special(fill))
      value = fill.low + u * (fill.high - fill.low);
    if (fill.kind == TestFill::integers) value = std::floor(fill.low + u * (fill.high - fill.low + 1));
    if (fill.kind == TestFill::constant) value = fill.low;
  }
  if (is_special(fill) && may_be_special) make_some_special(values, fill);
}

}  // namespace

ReferenceTensor fill_input(const TestInput& input, Layout layout, int index, DType dtype, uint64_t seed) {
  ReferenceTensor tensor = ReferenceTensor::zeros(input.shape);
  tensor.defined = input.defined;
  std::mt19937_64 random(seed * 1000003 + index);
  fill_values(tensor.values, input.fill, index, is_floating(dtype), random);
  if (input.fill.kind == TestFill::with_subnormal)
    make_some_subnormal(tensor.values, input.fill, index, dtype);
  for (double& value : tensor.values) {
    if (!is_floating(dtype)) value = std::trunc(value);
    if (dtype == DType::u8) value = std::fabs(value);
    value = rounded(value, dtype);
  }
  if (layout == Layout::expanded && input.shape.rank() > 0 && input.shape[0] > 0) {
    size_t row = tensor.values.size() / size_t(input.shape[0]);
    for (size_t i = row; i < tensor.values.size(); ++i) tensor.values[i] = tensor.values[i - row];
  }
  return tensor;
}

const char* name_of(Layout layout) {
  constexpr const char* names[] = {"contiguous", "channels_last", "transposed", "sliced",
                                   "expanded",   "stepped",       "stray"};
  return names[int(layout)];
}

Layout layout_of(TestLayout declared) {
  switch (declared) {
    case TestLayout::channels_last:
      return Layout::channels_last;
    case TestLayout::transposed:
      return Layout::transposed;
    case TestLayout::sliced:
      return Layout::sliced;
    case TestLayout::expanded:
      return Layout::expanded;
    default:
      return Layout::contiguous;
  }
}

namespace {

Strides transposed_strides(const Shape& shape) {
  const int rank = shape.rank();
  Shape reversed;
  for (int i = rank - 1; i >= 0; --i) reversed.push_back(shape[i]);
  Strides of_reversed = contiguous_strides(reversed), strides = of_reversed;
  for (int i = 0; i < rank; ++i) strides[i] = of_reversed[rank - 1 - i];
  return strides;
}

/// Every second element along the last axis and each second one before it, from the first to the last: rows
/// lie closer than a row of the whole tensor's steps would reach.
Placement stepped(const Shape& shape) {
  auto step = [&](int axis) { return (shape.rank() - 1 - axis) % 2 == 0 ? 2 : 1; };
  Shape whole = shape;
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (shape[axis] > 0) whole[axis] = (shape[axis] - 1) * step(axis) + 1;
  Placement p{contiguous_strides(whole), 0, whole.numel()};
  for (int axis = 0; axis < shape.rank(); ++axis) p.strides[axis] *= step(axis);
  return p;
}

/// Small and large in turn: neither multiples nor divisors of what the extents would give.
Placement stray(const Shape& shape) {
  Placement p{contiguous_strides(shape), 0, shape.numel()};
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (shape[axis] == 1) p.strides[axis] = axis % 2 ? 3 : 3 * shape.numel() + 5;
  return p;
}

}  // namespace

Placement place(const Shape& shape, Layout layout) {
  if (layout == Layout::stepped) return stepped(shape);
  if (layout == Layout::stray) return stray(shape);
  Placement p{contiguous_strides(shape), 0, shape.numel()};
  if (layout == Layout::channels_last) p.strides = channels_last_strides(shape);
  if (layout == Layout::transposed) p.strides = transposed_strides(shape);
  if (layout == Layout::sliced) {
    for (int64_t& stride : p.strides) stride *= 2;
    p.offset = 1;
    p.room = shape.numel() * 2 + 2;
  }
  if (layout == Layout::expanded && shape.rank() > 0) p.strides[0] = 0;
  return p;
}

Tensor to_tensor(const ReferenceTensor& values, Layout layout, DType dtype, Device device) {
  if (!values.defined) return {};
  Placement p = place(values.shape, layout);
  return with_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto block = std::make_unique<T[]>(size_t(std::max<int64_t>(p.room, 1)));
    for (int64_t i = 0; i < values.shape.numel(); ++i) {
      int64_t position = p.offset, rest = i;
      for (int axis = values.shape.rank() - 1; axis >= 0; rest /= values.shape[axis--])
        position += rest % values.shape[axis] * p.strides[axis];
      block[position] = T(values.values[i]);
    }
    Tensor storage = Tensor::from(std::span<const T>(block.get(), size_t(p.room)), {p.room}, device);
    return storage.alias(values.shape, p.strides, p.offset);
  });
}

std::vector<double> uneven(int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed ^ 0x9e3779b97f4a7c15u);
  std::vector<double> values(static_cast<size_t>(count));
  for (double& value : values) {
    double u = double(random() >> 11) * 0x1p-53;
    value = (random() & 1 ? 1 : -1) * (0.5 + u);
  }
  return values;
}

}  // namespace treadle::contract
