// Calls that an op declares as refused: each throws what is declared, and says it, eager and compiled.
#include <fmt/ranges.h>

#include "tests/contract/contract.h"
#include "tests/fault_of_refusal.h"
#include "treadle/compile/compile.h"
#include "treadle/core/runtime.h"
#include "treadle/graph/autograd.h"

namespace treadle::contract {
void check_refused_calls(const Op& op, Device device, Tally& tally) {
  if (!op.refused_calls) return;
  NoGrad no_grad;
  for (const RefusedCall& refused : op.refused_calls()) {
    TestCase test_case{fmt::format("refused: {}", fmt::join(refused.says, " ")), refused.inputs,
                       refused.attributes};
    if (op.options && !test_case.attributes) test_case.attributes = op.options->make({});
    const DType dtype = op.dtypes.contains(DType::f32) ? DType::f32 : DType::i64;
    const Trial trial = fill_trial(op, test_case, dtype, declared_layouts(test_case));
    const auto inputs = trial.tensors(device);
    const auto given = OneCall::defined(inputs);
    const OneCall call(trial, inputs);
    CompiledFunction compiled(call, {.measure = false});
    auto check = [&](const char* way, const std::function<void()>& run) {
      if (auto fault = fault_of_refusal(run, *refused.error, refused.says); fault.empty())
        tally.passed("refused calls", device);
      else
        tally.failed(fmt::format("{} on {}, {}: {}", trial.name(), to_string(device), way, fault));
    };
    check("eager", [&] { call(given), runtime(device).synchronize(); });
    check("compiled", [&] { compiled(given), runtime(device).synchronize(); });
  }
}

}  // namespace treadle::contract
