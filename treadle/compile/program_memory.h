/// ProgramMemory: where the operands of a program's steps lie, in one instance.
#pragma once

#include <span>
#include <vector>

#include "treadle/compile/prepared_results.h"
#include "treadle/compile/program.h"
#include "treadle/compile/replay_host_work.h"
#include "treadle/compile/replay_scratch.h"

namespace treadle {

/// Operands whose address is not known for good: of each its place among the views, where in its memory it
/// begins, and the number of that memory.
class Patches {
 public:
  void add(int number, size_t view, size_t byte_offset) { patches_.push_back({number, view, byte_offset}); }
  /// `address_of(number)` is where the memory lies now.
  template <class AddressOf>
  void apply(std::vector<TensorView>& views, AddressOf address_of) const {
    for (const Patch& patch : patches_)
      views[patch.view].data = static_cast<char*>(address_of(patch.number)) + patch.byte_offset;
  }

 private:
  struct Patch {
    int number;
    size_t view;
    size_t byte_offset;
  };
  std::vector<Patch> patches_;
};

/// The calls of a program's steps: operands in an arena of its own, scratch included, in captured tensors,
/// and, once they are bound, in arguments and results.
class ProgramMemory {
 public:
  /// Changing numbers lie in `host_work`. Without `keeps` steps keep nothing between replays.
  ProgramMemory(const Program& program, const ReplayHostWork& host_work, bool keeps);
  ProgramMemory(const ProgramMemory&) = delete;
  ProgramMemory& operator=(const ProgramMemory&) = delete;

  size_t steps() const { return calls_.size(); }
  const Call& call(size_t step) const { return calls_[step]; }
  /// By input number and by number of the output buffer: its address.
  template <class AddressOf>
  void bind_inputs(AddressOf address_of) {
    inputs_.apply(views_, address_of);
  }
  template <class AddressOf>
  void bind_outputs(AddressOf address_of) {
    outputs_.apply(views_, address_of);
  }
  /// From the first piece of a loop, by number, to another one, or from there on or back.
  void move_by_pieces(size_t loop, int64_t pieces) {
    for (const Moving& moving : moving_[loop])
      views_[moving.view].data = static_cast<char*>(views_[moving.view].data) + pieces * moving.bytes;
  }
  /// Captured tensors that steps write into, and something else in their place.
  const CapturedWrites& captured_writes() const { return captured_writes_; }
  void bind_captured_writes(std::span<const IntrusivePtr<Storage>> storages);
  /// The stream that calls go to, on devices that have one.
  void set_stream(void* stream);

  /// Before and after each run of a step.
  void begin(size_t step) { scratch_.begin(step, arena_->data()); }
  void end(size_t step) { scratch_.end(step); }
  ReplayScratch& scratch() { return scratch_; }
  PreparedResults& prepared() { return prepared_; }
  /// Gives scratch that has grown a place in the arena, which may move: of what is in it only prepared
  /// results outlive a replay, and they are made again then.
  void place_scratch();

  const Storage& arena() const { return *arena_; }
  /// Bytes of the arena, and of what steps keep.
  size_t bytes() const { return arena_->bytes() + scratch_.kept_bytes(); }

 private:
  /// An operand of a loop's step that lies elsewhere in each piece.
  struct Moving {
    size_t view;
    int64_t bytes;
  };

  void add_view(int value, const ReplayHostWork& host_work);
  void find_moving();
  void* add_patch(const ProgramBuffer& buffer, size_t byte_offset, const ReplayHostWork& host_work);
  void bind_arena();

  const Program& program_;
  IntrusivePtr<Storage> arena_;
  CapturedWrites captured_writes_;
  ReplayScratch scratch_;
  PreparedResults prepared_;
  std::vector<TensorView> views_;
  std::vector<Call> calls_;
  Patches inputs_, outputs_, in_arena_, written_;
  std::vector<std::vector<Moving>> moving_;  ///< by loop
};

}  // namespace treadle
