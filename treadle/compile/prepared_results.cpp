#include "treadle/compile/prepared_results.h"

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

/// The prepared step that makes the buffer of a value; null where none does.
const ProgramStep* preparing_step(const Program& program, int value) {
  const int buffer = program.values[size_t(value)].buffer;
  for (const ProgramStep& step : program.steps)
    if (step.prepared)
      for (int made : step.outputs)
        if (made != kNoValue && program.values[size_t(made)].buffer == buffer) return &step;
  return nullptr;
}

}  // namespace

std::vector<const Storage*> sources_of(const Program& program, int value) {
  const ProgramBuffer& buffer = program.buffer_of(value);
  if (buffer.is_fixed()) {
    if (writes_into(program, buffer.storage.get())) return {};
    return {buffer.storage.get()};
  }
  std::vector<const Storage*> all;
  if (const ProgramStep* step = preparing_step(program, value))
    for (int input : step->inputs)
      if (input != kNoValue)
        for (const Storage* source : sources_of(program, input)) all.push_back(source);
  return all;
}

/// What a prepared step reads is captured, or made by another one.
PreparedResults::PreparedResults(const Program& program, bool keeps) : keeps_(keeps) {
  for (const ProgramStep& step : program.steps)
    if (step.prepared)
      for (int input : step.inputs)
        if (input != kNoValue && program.buffer_of(input).is_fixed())
          sources_.push_back({program.buffer_of(input).storage.get(), 0});
}

bool PreparedResults::are_current() const {
  return made_ && std::all_of(sources_.begin(), sources_.end(), [](const Source& source) {
           return source.storage->version() == source.version;
         });
}

void PreparedResults::begin() {
  made_ = false;
  for (Source& source : sources_) source.version = source.storage->version();
}

}  // namespace treadle
