#include "cli/bench/step_cost.h"

#include "cli/bench/timing.h"
#include "treadle/core/error.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/run_hook.h"

namespace treadle::cli {

std::vector<StepCost> costs_of(const std::function<void()>& step, int64_t runs) {
  std::vector<StepCost> costs;
  std::vector<std::vector<double>> seconds;
  size_t position = 0;
  bool first = true;
  ObserveRuns observe([&](const VariantRun& run, double time) {
    if (first) {
      costs.push_back({run.op.name, run.variant.name, run.op.operations(run.call), bytes_of(run.call), 0});
      seconds.emplace_back();
    }
    require<ValueError>(position < costs.size() && costs[position].name == run.op.name,
                        "the step runs other ops than in its first run");
    seconds[position++].push_back(time);
  });
  for (int64_t i = 0; i < runs; ++i) {
    position = 0;
    step();
    require<ValueError>(position == costs.size(), "the step runs other ops than in its first run");
    first = false;
  }
  for (size_t i = 0; i < costs.size(); ++i) costs[i].seconds = quantile(seconds[i], 0.5);
  return costs;
}

}  // namespace treadle::cli
