#include "cli/lab/ladder.h"

#include <algorithm>
#include <cmath>

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

/// Those of one call that were not run yet.
void add_runs(const Op& op, const OpCase& entry, DType dtype, std::vector<RungRun>& runs) {
  std::vector<double> expected;
  for (const Variant* variant : rungs_for(op, entry)) {
    const auto is_same = [&](const RungRun& run) { return run.variant == variant->name; };
    if (std::any_of(runs.begin(), runs.end(), is_same)) continue;
    if (expected.empty()) expected = reference_of(op, entry);
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
}

}  // namespace

std::vector<RungRun> climb(const std::string& name) {
  const Op& op = op_named(name);
  const NoGrad no_grad;
  std::vector<RungRun> runs;
  for (DType dtype : {DType::f32, DType::bf16}) {
    if (!op.dtypes.contains(dtype)) continue;
    std::vector<OpCase> cases = timed_cases(op, dtype, kSimt);
    std::stable_sort(cases.begin(), cases.end(), [&](const OpCase& a, const OpCase& b) {
      return rungs_for(op, a).size() > rungs_for(op, b).size();
    });
    for (const OpCase& entry : cases) add_runs(op, entry, dtype, runs);
  }
  std::stable_sort(runs.begin(), runs.end(),
                   [](const RungRun& a, const RungRun& b) { return a.rung < b.rung; });
  return runs;
}

}  // namespace treadle::cli
