#include <fmt/core.h>

#include "cli/bench_op.h"
#include "cli/bench_step.h"
#include "cli/command.h"

namespace treadle::cli {

Action add_bench(CLI::App& app) {
  app.require_subcommand(1);
  auto step = std::make_shared<StepBench>();
  auto op = std::make_shared<OpBench>();
  CLI::App* step_app = app.add_subcommand("step", "Whole training or inference steps on real data");
  step_app->add_option("--model", step->model, "The model")->capture_default_str();
  step_app->add_option("--mode", step->mode, "train or inference")
      ->check(CLI::IsMember({"train", "inference"}))
      ->capture_default_str();
  step_app->add_option("--batch", step->batch, "Images per step")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  step_app->add_option("--optimizer", step->optimizer, "sgd, momentum, adam or adamw")->capture_default_str();
  step_app->add_option("--data", step->data, "Data set")->capture_default_str();
  step_app->add_option("--steps", step->steps, "Steps that are timed; 0: about three seconds of them")
      ->check(CLI::NonNegativeNumber);
  add_run_settings(*step_app, step->settings);
  step_app->add_flag("--json", step->json, "One JSON object on the last line");
  step_app->footer("Example: treadle bench step --model fashion_cnn --mode inference --batch 32");
  CLI::App* op_app = app.add_subcommand("op", "Every variant of an op that the device has");
  op_app->add_option("OP", op->op, "The op's name")->required();
  op_app->add_option("--seconds", op->seconds, "Time per variant and case")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  op_app->add_option("--dtype", op->dtype, "Element type")->capture_default_str();
  add_run_settings(*op_app, op->settings);
  op_app->add_flag("--json", op->json, "One JSON object on the last line");
  app.footer(
      "Example: treadle bench step --model fashion_cnn --batch 32\n         treadle bench op matmul --device "
      "simt");
  return [step, op, step_app] { return step_app->parsed() ? run_step_bench(*step) : run_op_bench(*op); };
}

}  // namespace treadle::cli
