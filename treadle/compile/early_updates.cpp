#include "treadle/compile/early_updates.h"
#include "treadle/graph/op.h"

#include <algorithm>
#include <set>

namespace treadle {
namespace {

using Buffers = std::set<int>;

void add(Buffers& buffers, const Program& program, const std::vector<int>& values) {
  for (int value : values)
    if (value != kNoValue) buffers.insert(program.values[size_t(value)].buffer);
}

bool meet(const Buffers& a, const Buffers& b) {
  return std::any_of(a.begin(), a.end(), [&](int buffer) { return b.count(buffer) > 0; });
}

/// What a step reads and writes; memory updated in place is both.
struct Accesses {
  Buffers reads, writes;

  Accesses(const Program& program, const ProgramStep& step) {
    add(reads, program, step.inputs);
    add(writes, program, step.outputs);
    add(writes, program, mutated_values(step));
  }
  bool commutes_with(const Accesses& other) const {
    return !meet(writes, other.writes) && !meet(writes, other.reads) && !meet(reads, other.writes);
  }
};

/// Floats are taken as they come; labels and positions are checked.
bool may_fail(const Program& program, const ProgramStep& step) {
  return std::any_of(step.inputs.begin(), step.inputs.end(), [&](int value) {
    if (value == kNoValue) return false;
    const DType dtype = program.values[size_t(value)].spec.dtype;
    return dtype == DType::i32 || dtype == DType::i64;
  });
}

/// The first place at or before `at` where the step may stand.
size_t earliest_place(const Program& program, size_t at) {
  const Accesses update(program, program.steps[at]);
  for (; at > 0; --at) {
    const ProgramStep& before = program.steps[at - 1];
    if (may_fail(program, before) || !update.commutes_with(Accesses(program, before))) break;
  }
  return at;
}

bool is_update(const ProgramStep& step) { return !step.op->mutates.empty(); }

/// Behind updates that stand there already: each follows the step that it had to wait for.
size_t place_of(const Program& program, size_t update) {
  size_t place = earliest_place(program, update);
  while (place < update && is_update(program.steps[place])) ++place;
  return place;
}

}  // namespace

void move_updates_early(Program& program) {
  auto first = program.steps.begin();
  for (size_t i = 0; i < program.steps.size(); ++i) {
    if (!is_update(program.steps[i])) continue;
    const auto place = int64_t(place_of(program, i));
    std::rotate(first + place, first + int64_t(i), first + int64_t(i) + 1);
  }
}

}  // namespace treadle
