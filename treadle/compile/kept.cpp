#include "treadle/compile/kept.h"

#include <algorithm>

namespace treadle {
namespace {

bool writes_into(const Program& program, const Storage* storage) {
  return std::any_of(program.steps.begin(), program.steps.end(), [&](const ProgramStep& step) {
    auto written = mutated_values(step);
    return std::any_of(written.begin(), written.end(),
                       [&](int value) { return program.buffer_of(value).storage.get() == storage; });
  });
}

}  // namespace

void KeptBlock::find_sources(std::initializer_list<int> inputs) {
  known_ = possible_ = true;
  const std::vector<int>& values = program_->steps[step_].inputs;
  for (int input : inputs) {
    if (size_t(input) >= values.size() || values[size_t(input)] == kNoValue) continue;
    const ProgramBuffer& buffer = program_->buffer_of(values[size_t(input)]);
    const Storage* storage = buffer.storage.get();
    if (!buffer.is_fixed() || writes_into(*program_, storage)) {
      possible_ = false;
      return;
    }
    sources_.push_back({storage, storage->version()});
  }
}

bool KeptBlock::is_current() const {
  return std::all_of(sources_.begin(), sources_.end(),
                     [](const Source& source) { return source.storage->version() == source.version; });
}

std::optional<KeptMemory> KeptBlock::open(size_t bytes, std::initializer_list<int> inputs) {
  if (!known_) find_sources(inputs);
  if (!possible_) return {};
  if (!memory_ || memory_->bytes() < bytes)
    memory_ = make_intrusive<Storage>(program_->device, bytes), filled_ = false;
  if (filled_ && is_current()) return KeptMemory{memory_->data(), true};
  filled_ = false;
  for (Source& source : sources_) source.version = source.storage->version();
  return KeptMemory{memory_->data(), false};
}

}  // namespace treadle
