/// ReplayScratch: the memory that the steps of one instance ask for while they run.
#pragma once

#include <vector>

#include "treadle/compile/kept.h"
#include "treadle/compile/program.h"

namespace treadle {

/// Scratch for the steps of a replay: for each step a free part of the arena, as large as the step asked for
/// in earlier replays. What does not fit comes from the allocator. What steps keep lies outside of it.
class ReplayWorkspace final : public Workspace {
 public:
  explicit ReplayWorkspace(Device device) : device_(device) {}
  void* take(size_t bytes) override;
  KeptMemory keep(size_t bytes, std::initializer_list<int> inputs) override;
  /// Before each step. Without `kept` it keeps nothing.
  void use(void* memory, size_t bytes, KeptBlock* kept) {
    memory_ = static_cast<char*>(memory);
    bytes_ = bytes;
    taken_ = 0;
    kept_ = kept;
    overflow_.clear();
  }
  /// Bytes that the step has asked for.
  size_t taken() const { return taken_; }

 private:
  Device device_;
  char* memory_ = nullptr;
  size_t bytes_ = 0, taken_ = 0;
  KeptBlock* kept_ = nullptr;  ///< until the step has asked for it
  std::vector<IntrusivePtr<Storage>> overflow_;
};

/// What each step has asked for, where in the arena it lies, and what it keeps.
class ReplayScratch {
 public:
  /// Without `keeps` a step makes anew in each replay what it could keep.
  ReplayScratch(const Program& program, bool keeps);

  Workspace& workspace() { return workspace_; }
  /// Before and after each run of a step.
  void begin(size_t step, void* arena) {
    workspace_.use(static_cast<char*>(arena) + offsets_[step], planned_[step],
                   keeps_ ? &kept_[step] : nullptr);
  }
  void end(size_t step) {
    end_trial(step);
    if (workspace_.taken() <= asked_[step]) return;
    asked_[step] = workspace_.taken();
    grew_ = true;
  }
  /// The same after a run whose scratch counts for nothing in later plans.
  void end_trial(size_t step) { kept_[step].close(); }

  /// Whether a step has asked for more than was planned.
  bool grew() const { return grew_; }
  /// Gives each step's scratch a place beside the buffers that are alive then. Returns the bytes that the
  /// arena must have for it.
  size_t plan();

  void forget_kept(size_t step) { kept_[step].forget(); }
  size_t kept_bytes() const;

 private:
  const Program& program_;
  bool keeps_, grew_ = false;
  ReplayWorkspace workspace_;
  std::vector<size_t> asked_, offsets_, planned_;  ///< by step, as are kept_
  std::vector<KeptBlock> kept_;
};

}  // namespace treadle
