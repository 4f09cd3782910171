#include "treadle/compile/program_memory.h"

#include <algorithm>

#include "treadle/core/runtime.h"

namespace treadle {

using Kind = ProgramBuffer::Kind;

ProgramMemory::ProgramMemory(const Program& program, const ReplayHostWork& host_work, bool keeps)
    : program_(program),
      arena_(make_intrusive<Storage>(program.device, program.statistics.arena_bytes)),
      captured_writes_(program.captured_writes()),
      scratch_(program, keeps),
      prepared_(program, keeps) {
  size_t count = 0;
  for (const ProgramStep& step : program.steps) count += step.inputs.size() + step.outputs.size();
  views_.reserve(count);  // calls point into it
  for (const ProgramStep& step : program.steps) {
    const size_t begin = views_.size();
    for (int value : step.inputs) add_view(value, host_work);
    for (int value : step.outputs) add_view(value, host_work);
    const std::span<const TensorView> all(views_);
    calls_.push_back(Call{all.subspan(begin, step.inputs.size()),
                          all.subspan(begin + step.inputs.size(), step.outputs.size()), step.attributes,
                          nullptr, &scratch_.workspace()});
  }
  find_moving();
  bind_arena();
  bind_captured_writes(captured_writes_.storages);
  if (program.device.kind != DeviceKind::cpu) set_stream(runtime(program.device).stream());
}

void ProgramMemory::add_view(int value, const ReplayHostWork& host_work) {
  TensorView view;
  if (value != kNoValue) {
    const GraphValue& place = program_.values[size_t(value)];
    const size_t offset = size_t(place.offset) * size_of(place.spec.dtype);
    view = {add_patch(program_.buffer_of(value), offset, host_work), place.spec.dtype, place.spec.shape,
            place.spec.strides};
  }
  views_.push_back(view);
}

void ProgramMemory::find_moving() {
  for (const PieceLoop& loop : program_.loops) {
    std::vector<Moving>& moving = moving_.emplace_back();
    for (int step = loop.first; step < loop.end; ++step) {
      auto view = size_t(calls_[size_t(step)].inputs.data() - views_.data());
      for (const auto* values : {&program_.steps[size_t(step)].inputs, &program_.steps[size_t(step)].outputs})
        for (int value : *values) {
          const size_t bytes = value == kNoValue ? 0 : program_.values[size_t(value)].piece;
          if (bytes > 0) moving.push_back({view, int64_t(bytes)});
          ++view;
        }
    }
  }
}

/// The address where it stays as it is; else a patch will set it.
void* ProgramMemory::add_patch(const ProgramBuffer& buffer, size_t byte_offset,
                               const ReplayHostWork& host_work) {
  const size_t view = views_.size();
  if (const int input = program_.input_number(buffer); input >= 0) inputs_.add(input, view, byte_offset);
  if (buffer.kind == Kind::output) outputs_.add(buffer.number, view, byte_offset);
  if (buffer.kind == Kind::result) in_arena_.add(0, view, buffer.offset + byte_offset);
  if (buffer.kind == Kind::numbers)
    return reinterpret_cast<char*>(host_work.numbers(buffer.number)) + byte_offset;
  if (!buffer.is_fixed()) return nullptr;
  const auto& written = captured_writes_.storages;
  if (auto found = std::find(written.begin(), written.end(), buffer.storage); found != written.end())
    written_.add(int(found - written.begin()), view, byte_offset);
  return static_cast<char*>(buffer.storage->data()) + byte_offset;
}

void ProgramMemory::bind_arena() {
  in_arena_.apply(views_, [this](int) { return arena_->data(); });
}

void ProgramMemory::bind_captured_writes(std::span<const IntrusivePtr<Storage>> storages) {
  written_.apply(views_, [&](int number) { return storages[size_t(number)]->data(); });
}

void ProgramMemory::set_stream(void* stream) {
  for (Call& call : calls_) call.stream = stream;
}

void ProgramMemory::place_scratch() {
  const size_t needed = std::max(arena_->bytes(), scratch_.plan());
  if (needed == arena_->bytes()) return;
  prepared_.forget();
  arena_ = {};  // the old one goes first
  arena_ = make_intrusive<Storage>(program_.device, needed);
  bind_arena();
}

}  // namespace treadle
