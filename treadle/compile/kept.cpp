#include "treadle/compile/kept.h"

#include <algorithm>

#include "treadle/compile/prepared_results.h"

namespace treadle {
void KeptBlock::find_sources(std::initializer_list<int> inputs) {
  known_ = possible_ = true;
  const std::vector<int>& values = program_->steps[step_].inputs;
  for (int input : inputs) {
    if (size_t(input) >= values.size() || values[size_t(input)] == kNoValue) continue;
    const auto sources = sources_of(*program_, values[size_t(input)]);
    for (const Storage* source : sources) sources_.push_back({source, source->version()});
    if (sources.empty()) {
      possible_ = false;
      return;
    }
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
