// What an op says of rows: those of the operands that it names make the same rows of the reference's outputs.
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

}  // namespace

void check_rows(const Trial& trial, Tally& tally) {
  if (!trial.op.rows || trial.expected.empty()) return;
  const std::vector<int> operands = trial.op.rows(specs_of(trial), trial.test_case.attributes);
  if (operands.empty()) return;
  const int64_t rows = trial.inputs[size_t(operands[0])].shape[0];
  for (int64_t cut : {int64_t(1), rows / 2}) {
    if (cut <= 0 || cut >= rows) continue;
    for (const auto& [begin, end] : {std::pair(int64_t(0), cut), std::pair(cut, rows)}) {
      std::vector<ReferenceTensor> inputs = trial.inputs;
      for (int operand : operands) inputs[size_t(operand)] = rows_of(inputs[size_t(operand)], begin, end);
      const auto made = trial.op.reference(inputs, trial.test_case.attributes);
      for (size_t k = 0; k < made.size(); ++k)
        if (!are_equal(made[k], rows_of(trial.expected[k], begin, end)))
          return tally.failed(
              fmt::format("{}: rows {} to {} of output {} do not follow from those of its operands",
                          trial.name(), begin, end, k));
    }
  }
  tally.passed("rows", kCpu);
}

}  // namespace treadle::contract
