#include "treadle/compile/instance.h"

#include <utility>

#include "treadle/compile/tuning.h"
#include "treadle/graph/compute_scope.h"
#include "treadle/graph/run_hook.h"

namespace treadle {

/// A captured graph makes anew what a step keeps: it cannot leave it out when it is there.
ProgramInstance::ProgramInstance(std::shared_ptr<Program> program, bool graph)
    : program_(std::move(program)),
      host_work_(*program_),
      memory_(*program_, host_work_, !graph),
      results_(*program_),
      fixed_(graph ? std::make_unique<FixedOperands>() : nullptr),
      replay_(*program_, memory_, host_work_, graph) {}

void ProgramInstance::bind(std::span<const Tensor> arguments) {
  results_.prepare();
  memory_.bind_inputs([&](int number) { return program_->input(arguments, number).raw(); });
  memory_.bind_outputs([&](int number) { return results_.storage(number)->data(); });
}

/// A hook's time is none of the program's.
void ProgramInstance::run_steps() {
  if (program_->device.kind != DeviceKind::cpu) return replay_.run();
  if (!run_hook()) return threads_.run([this] { replay_.run(); });
  const detail::RegionThreads scope(threads_.threads());
  replay_.run();
}

void ProgramInstance::run(std::span<const Tensor> arguments, std::span<Tensor> results) {
  ComputeScope scope(program_->device.kind);
  if (memory_.scratch().grew()) {
    replay_.forget_graph();  // it has the old addresses
    memory_.place_scratch();
  }
  if (fixed_) {
    results_.prepare();
    fixed_->bind(*program_, arguments, results_, memory_);
  } else {
    bind(arguments);
  }
  host_work_.run();
  run_steps();
  if (fixed_) fixed_->copy_results(results_);
  results_.give(arguments, results);
}

void ProgramInstance::choose_variants(std::span<const Tensor> arguments, bool measure) {
  bind(arguments);
  Tuning tuning(*program_, memory_, host_work_, replay_);
  if (tuning.choose_by_rule() && measure) tuning.measure();
}

bool ProgramInstance::choose_variants_again(std::span<const Tensor> arguments) {
  bind(arguments);
  Tuning tuning(*program_, memory_, host_work_, replay_);
  if (!tuning.zeros_matter()) return false;
  tuning.measure();
  return true;
}

std::vector<bool> ProgramInstance::inputs_with_alignment() {
  return Tuning(*program_, memory_, host_work_, replay_).inputs_with_alignment();
}

}  // namespace treadle
