#include "treadle/compile/tuning.h"

#include <optional>
#include <utility>

#include "treadle/compile/drawn_operands.h"
#include "treadle/compile/variant_choice.h"
#include "treadle/core/runtime.h"
#include "treadle/graph/compute_scope.h"
#include "treadle/graph/select.h"

namespace treadle {
namespace {

/// Copies of the captured tensors that steps write into, in their place while one lives.
class CapturedCopies {
 public:
  CapturedCopies(ProgramMemory& memory, CapturedLock& lock, Device device) : memory_(memory) {
    CapturedLock::Hold hold(lock);
    std::vector<IntrusivePtr<Storage>> copies;
    for (const auto& storage : memory.captured_writes().storages) {
      copies.push_back(make_intrusive<Storage>(device, storage->bytes()));
      runtime(device).copy_within(copies.back()->data(), storage->data(), storage->bytes());
    }
    memory.bind_captured_writes(copies_ = std::move(copies));
  }
  ~CapturedCopies() { memory_.bind_captured_writes(memory_.captured_writes().storages); }
  CapturedCopies(const CapturedCopies&) = delete;
  CapturedCopies& operator=(const CapturedCopies&) = delete;

 private:
  ProgramMemory& memory_;
  std::vector<IntrusivePtr<Storage>> copies_;
};

}  // namespace

bool Tuning::choose_by_rule() {
  bool open = false;
  for (size_t i = 0; i < memory_.steps(); ++i) {
    ProgramStep& step = program_.steps[i];
    step.variant = &select_variant(*step.op, memory_.call(i), program_.device.kind);
    open |= needs_choice(*step.op, memory_.call(i), program_.device);
  }
  return open;
}

void Tuning::measure() {
  ComputeScope scope(program_.device.kind);
  host_work_.send_numbers_alone();
  CapturedCopies copies(memory_, replay_.lock(), program_.device);
  measure_steps();
}

/// Others may write what is captured between two steps. Of a loop the first piece is timed; then the others
/// run, so that steps behind it find what they do in a replay.
void Tuning::measure_steps() {
  size_t loop = 0;
  for (size_t i = 0; i < memory_.steps(); ++i) {
    CapturedLock::Hold hold(replay_.lock());
    if (needs_choice(*program_.steps[i].op, memory_.call(i), program_.device)) time_variants(i);
    replay_.run_step(i);
    if (loop < program_.loops.size() && int(i) + 1 == program_.loops[loop].end)
      replay_.run_other_pieces(loop++);
  }
}

/// Each variant is timed with what it keeps in place, as in replays after the first, and on operands that it
/// has not met before.
void Tuning::time_variants(size_t i) {
  ProgramStep& step = program_.steps[i];
  ReplayScratch& scratch = memory_.scratch();
  const Variant* last = nullptr;
  std::optional<DrawnOperands> drawn;
  if (program_.device == kCpu) drawn.emplace(*step.op, memory_.call(i));
  const Call& call = drawn ? drawn->call() : memory_.call(i);
  auto run = [&](const Variant& variant) {
    if (std::exchange(last, &variant) != &variant) scratch.forget_kept(i);
    memory_.begin(i);
    variant.run(call);
    scratch.end_trial(i);
  };
  auto draw = [&] {
    if (drawn) drawn->draw();
  };
  step.measured = measured_times(*step.op, memory_.call(i), program_.device, {run, draw});
  scratch.forget_kept(i);
  if (step.measured.empty()) return;  // given up: the variant chosen by rule stays
  step.variant = &fastest_variant(*step.op, memory_.call(i), program_.device, step.measured);
}

bool Tuning::zeros_matter() const {
  for (size_t i = 0; i < memory_.steps(); ++i) {
    const Op& op = *program_.steps[i].op;
    if (program_.device == kCpu && skips_zeros(op) && needs_choice(op, memory_.call(i), kCpu)) return true;
  }
  return false;
}

std::vector<std::vector<const Variant*>> Tuning::applicable() const {
  std::vector<std::vector<const Variant*>> variants;
  for (size_t i = 0; i < memory_.steps(); ++i)
    variants.push_back(applicable_variants(*program_.steps[i].op, memory_.call(i), program_.device.kind));
  return variants;
}

/// Nobody reads by these addresses.
std::vector<bool> Tuning::inputs_with_alignment() {
  constexpr uintptr_t kAligned = 4096;
  auto place = [&](int unaligned) {
    memory_.bind_inputs([&](int number) {
      return reinterpret_cast<void*>(kAligned + (number == unaligned ? kVariantAlignment / 2 : 0));
    });
  };
  place(-1);
  const auto aligned = applicable();
  std::vector<bool> matters;
  for (int i = 0; i < program_.inputs(); ++i) {
    place(i);
    matters.push_back(applicable() != aligned);
  }
  return matters;
}

}  // namespace treadle
