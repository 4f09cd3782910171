/// Replay: runs the steps of a program, one by one or as a graph that the device has captured.
#pragma once

#include <memory>

#include "treadle/compile/captured_lock.h"
#include "treadle/compile/program_memory.h"
#include "treadle/compile/replay_host_work.h"
#include "treadle/core/runtime.h"
#include "treadle/graph/run_hook.h"

namespace treadle {

class Replay {
 public:
  /// With `graph`, runs after the first one launch a graph, if the device can capture one.
  Replay(const Program& program, ProgramMemory& memory, ReplayHostWork& host_work, bool graph);

  /// Runs all steps on what is bound in `memory`. Where it throws before anything was changed, the host work
  /// is taken back. Versions of captured tensors that steps write rise. Where the thread has a hook
  /// (run_hook.h), steps are run one by one inside of it.
  void run();
  /// Runs one step alone, of a loop on the first piece: neither locks nor versions are its matter, and no
  /// hook is told.
  void run_step(size_t step);
  /// The same for all pieces of a loop, by number, but the first.
  void run_other_pieces(size_t loop);
  /// Addresses have changed.
  void forget_graph() { graph_.reset(); }
  /// The captured graph; null before the second run, and where steps are run one by one.
  const CapturedGraph* graph() const { return graph_.get(); }
  CapturedLock& lock() { return lock_; }

 private:
  class PieceWalk;

  void use_current_stream();
  void run_hooked(RunHook& hook, size_t step);
  void run_once();
  void run_steps(CapturedLock::Hold& hold);
  std::unique_ptr<CapturedGraph> capture();
  void launch_graph();
  void raise_versions();

  const Program& program_;
  ProgramMemory& memory_;
  ReplayHostWork& host_work_;
  CapturedLock lock_;
  bool graph_wanted_;
  bool capturable_ = true;  ///< until a capture has failed
  bool warm_ = false;       ///< a run has made libraries and scratch ready
  std::unique_ptr<CapturedGraph> graph_;
};

}  // namespace treadle
