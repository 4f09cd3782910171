#include "cli/lab/ladder.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "cli/bench/chosen_variant.h"
#include "cli/bench/op_case.h"
#include "cli/bench/timing.h"
#include "treadle/core/runtime.h"
#include "treadle/graph/apply.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/registry.h"

namespace treadle::cli {
namespace {

constexpr Device kSimt{DeviceKind::simt, 0};

std::vector<const Variant*> rungs_for(const Op& op, const OpCase& entry) {
  std::vector<const Variant*> rungs = variants_for(op, entry, kSimt);
  std::erase_if(rungs, [](const Variant* variant) { return variant->rung == 0; });
  std::stable_sort(rungs.begin(), rungs.end(),
                   [](const Variant* a, const Variant* b) { return a->rung < b->rung; });
  return rungs;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

/// What the op's reference makes of the same operands.
std::vector<double> reference_of(const Op& op, const OpCase& entry) {
  std::vector<ReferenceTensor> inputs;
  for (const Tensor& input : entry.inputs)
    inputs.push_back(input.defined() ? ReferenceTensor{input.shape(), input.to_doubles()}
                                     : ReferenceTensor{{}, {}, false});
  return op.reference(inputs, entry.attributes)[0].values;
}

/// The call that most rungs take.
OpCase best_case(const Op& op, DType dtype) {
  std::vector<OpCase> cases = timed_cases(op, dtype, kSimt);
  return *std::max_element(cases.begin(), cases.end(), [&](const OpCase& a, const OpCase& b) {
    return rungs_for(op, a).size() < rungs_for(op, b).size();
  });
}

std::vector<RungRun> climb_in(const Op& op, DType dtype) {
  const OpCase entry = best_case(op, dtype);
  std::vector<RungRun> runs;
  const std::vector<double> expected = reference_of(op, entry);
  for (const Variant* variant : rungs_for(op, entry)) {
    const ChosenVariant chosen(op.name, variant->name);
    const std::vector<double> result = apply(op, entry.inputs, entry.attributes)[0].to_doubles();
    const auto work = [&] {
      apply(op, entry.inputs, entry.attributes);
      runtime(kSimt).synchronize();
    };
    const std::vector<double> seconds = time_repeatedly(work, 0, 3);
    runs.push_back({variant->rung, variant->name, variant->idea, entry.label, std::string(name_of(dtype)),
                    *std::min_element(seconds.begin(), seconds.end()), largest_difference(result, expected)});
  }
  return runs;
}

}  // namespace

std::vector<RungRun> climb(const std::string& name) {
  const Op& op = op_named(name);
  const NoGrad no_grad;
  std::vector<RungRun> runs = climb_in(op, DType::f32);
  std::set<std::string> seen;
  for (const RungRun& run : runs) seen.insert(run.variant);
  if (!op.dtypes.contains(DType::bf16)) return runs;
  for (RungRun& run : climb_in(op, DType::bf16))
    if (!seen.count(run.variant)) runs.push_back(std::move(run));
  return runs;
}

}  // namespace treadle::cli
