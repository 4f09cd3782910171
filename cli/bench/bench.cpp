#include "cli/bench/bench_explain.h"
#include "cli/bench/bench_grid.h"
#include "cli/bench/bench_op.h"
#include "cli/bench/bench_roofline.h"
#include "cli/bench/bench_step.h"
#include "cli/command.h"

namespace treadle::cli {
namespace {

struct Bench {
  const char *name, *description;
  Action (*add)(CLI::App&);
};

constexpr Bench kBenches[] = {
    {"step", "Whole training or inference steps on real data", add_step_bench},
    {"op", "Every variant of an op that the device has", add_op_bench},
    {"roofline", "What the machine can do at most, and how far each op of a step is from it",
     add_roofline_bench},
    {"explain", "Which variant runs each step of a compiled step, and what was measured", add_explain_bench},
    {"grid", "Convolutions of many shapes, against oneDNN alone", add_grid_bench},
};

}  // namespace

Action add_bench(CLI::App& app) {
  app.require_subcommand(1);
  auto chosen = std::make_shared<Action>();
  for (const Bench& bench : kBenches) {
    CLI::App* sub = app.add_subcommand(bench.name, bench.description);
    sub->callback([chosen, action = bench.add(*sub)] { *chosen = action; });
  }
  app.footer(
      "Example: treadle bench step --model fashion_cnn --batch 32\n         treadle bench op matmul --device "
      "simt");
  return [chosen] { return (*chosen)(); };
}

}  // namespace treadle::cli
