// What an op says of rows: those of the operands that it names make the same rows of the reference's outputs.
#include <cmath>

#include "tests/contract/contract.h"

namespace treadle::contract {
namespace {

/// Rows [begin, end) along the first axis.
ReferenceTensor rows_of(const ReferenceTensor& whole, int64_t begin, int64_t end) {
  ReferenceTensor part = whole;
  part.shape[0] = end - begin;
  const int64_t row = whole.shape[0] ? whole.shape.numel() / whole.shape[0] : 0;
  part.values.assign(whole.values.begin() + begin * row, whole.values.begin() + end * row);
  return part;
}

bool are_equal(const ReferenceTensor& a, const ReferenceTensor& b) {
  return a.shape == b.shape && std::ranges::equal(a.values, b.values, [](double x, double y) {
           return x == y || (x != x && y != y);
         });
}

std::vector<TensorSpec> specs_of(const Trial& trial) {
  std::vector<TensorSpec> specs;
  for (size_t i = 0; i < trial.inputs.size(); ++i) {
    specs.push_back(TensorSpec::of(trial.inputs[i].shape, trial.input_dtypes[i]));
    specs.back().defined = trial.inputs[i].defined;
  }
  return specs;
}

bool is_sum(const Op& op, size_t output) { return std::ranges::find(op.sums, int(output)) != op.sums.end(); }

std::vector<ReferenceTensor> added(std::vector<ReferenceTensor> a, const std::vector<ReferenceTensor>& b) {
  for (size_t k = 0; k < a.size(); ++k)
    for (size_t i = 0; i < a[k].values.size() && i < b[k].values.size(); ++i)
      a[k].values[i] += b[k].values[i];
  return a;
}

/// The same sum in two orders, in double: of n terms each differs by at most n 2^-53 of the sum of their
/// magnitudes. Cases have fewer than 2^13 rows of terms below 2^7 times the largest sum.
bool are_alike(const ReferenceTensor& a, const ReferenceTensor& b) {
  double largest = 0;
  for (double x : b.values)
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  return a.shape == b.shape && std::ranges::equal(a.values, b.values, [&](double x, double y) {
           return x == y || (x != x && y != y) || std::abs(x - y) <= 0x1p-33 * largest;
         });
}

}  // namespace

void check_rows(const Trial& trial, Tally& tally) {
  if (!trial.op.rows || trial.expected.empty()) return;
  const std::vector<int> operands = trial.op.rows(specs_of(trial), trial.test_case.attributes);
  if (operands.empty()) return;
  const int64_t rows = trial.inputs[size_t(operands[0])].shape[0];
  for (int64_t cut : {int64_t(1), rows / 2}) {
    if (cut <= 0 || cut >= rows) continue;
    std::vector<ReferenceTensor> sums;
    for (const auto& [begin, end] : {std::pair(int64_t(0), cut), std::pair(cut, rows)}) {
      std::vector<ReferenceTensor> inputs = trial.inputs;
      for (int operand : operands) inputs[size_t(operand)] = rows_of(inputs[size_t(operand)], begin, end);
      const auto made = trial.op.reference(inputs, trial.test_case.attributes);
      for (size_t k = 0; k < made.size(); ++k) {
        if (is_sum(trial.op, k)) continue;
        if (!are_equal(made[k], rows_of(trial.expected[k], begin, end)))
          return tally.failed(
              fmt::format("{}: rows {} to {} of output {} do not follow from those of its operands",
                          trial.name(), begin, end, k));
      }
      sums = sums.empty() ? made : added(sums, made);
    }
    for (size_t k = 0; k < sums.size(); ++k)
      if (is_sum(trial.op, k) && !are_alike(sums[k], trial.expected[k]))
        return tally.failed(
            fmt::format("{}: output {} of rows 0 to {} and of those behind them add up to something else",
                        trial.name(), k, cut));
  }
  tally.passed("rows", kCpu);
}

}  // namespace treadle::contract
