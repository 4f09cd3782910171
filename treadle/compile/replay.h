/// Replay: runs the steps of a program, one by one or as a graph that the device has captured.
#pragma once

#include <functional>
#include <memory>

#include "treadle/compile/captured_lock.h"
#include "treadle/compile/program_memory.h"
#include "treadle/compile/replay_host_work.h"
#include "treadle/core/runtime.h"

namespace treadle {

class Replay {
 public:
  /// With `graph`, runs after the first one launch a graph, if the device can capture one.
  Replay(const Program& program, ProgramMemory& memory, ReplayHostWork& host_work, bool graph);

  /// Runs all steps on what is bound in `memory`. Where it throws before anything was changed, the host work
  /// is taken back. Versions of captured tensors that steps write rise.
  void run();
  /// Runs one step alone: neither locks nor versions are its matter.
  void run_step(size_t step);
  /// Addresses have changed.
  void forget_graph() { graph_.reset(); }
  /// The captured graph; null before the second run, and where runs are a loop.
  const CapturedGraph* graph() const { return graph_.get(); }
  CapturedLock& lock() { return lock_; }

  /// Told after every step while set: its number and seconds. Steps are run one by one then.
  std::function<void(size_t, double)> on_step;

 private:
  void use_current_stream();
  void run_timed(size_t step);
  void run_loop();
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
