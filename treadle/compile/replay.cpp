#include "treadle/compile/replay.h"

#include "treadle/core/error.h"
#include "treadle/core/log.h"

namespace treadle {

Replay::Replay(const Program& program, ProgramMemory& memory, ReplayHostWork& host_work, bool graph)
    : program_(program), memory_(memory), host_work_(host_work), lock_(program), graph_wanted_(graph) {}

void Replay::run_step(size_t step) {
  memory_.begin(step);
  program_.steps[step].variant->run(memory_.call(step));
  memory_.end(step);
}

void Replay::run_hooked(RunHook& hook, size_t step) {
  const ProgramStep& planned = program_.steps[step];
  memory_.begin(step);
  detail::run_in(hook, {*planned.op, *planned.variant, memory_.call(step), program_.device});
  memory_.end(step);
}

/// Calls go to the device's stream as it is for this thread now: the capture's while one is under way. The
/// device becomes the thread's current one.
void Replay::use_current_stream() {
  if (program_.device.kind != DeviceKind::cpu) memory_.set_stream(runtime(program_.device).stream());
}

void Replay::raise_versions() {
  for (const auto& storage : memory_.captured_writes().storages) storage->bump_version();
}

/// Goes through the pieces of a loop, and in the end back to the first.
class Replay::PieceWalk {
 public:
  PieceWalk(ProgramMemory& memory, size_t loop) : memory_(memory), loop_(loop) {}
  ~PieceWalk() { memory_.move_by_pieces(loop_, -at_); }
  PieceWalk(const PieceWalk&) = delete;
  PieceWalk& operator=(const PieceWalk&) = delete;

  void next() { memory_.move_by_pieces(loop_, 1), ++at_; }

 private:
  ProgramMemory& memory_;
  size_t loop_;
  int64_t at_ = 0;
};

void Replay::run_other_pieces(size_t loop) {
  PieceWalk walk(memory_, loop);
  const PieceLoop& steps = program_.loops[loop];
  for (int piece = 1; piece < steps.pieces; ++piece) {
    walk.next();
    for (int step = steps.first; step < steps.end; ++step) run_step(size_t(step));
  }
}

/// Versions rise while nobody else reads.
void Replay::run_once() {
  use_current_stream();
  CapturedLock::Hold hold(lock_);
  run_steps(hold);
  raise_versions();
}

void Replay::run_steps(CapturedLock::Hold& hold) {
  const size_t first_write = memory_.captured_writes().first_step;
  RunHook* const hook = run_hook();
  PreparedResults& prepared = memory_.prepared();
  const bool current = prepared.are_current();
  if (!current) prepared.begin();
  size_t step = 0;
  const auto run_until = [&](size_t end) {
    for (; step < end; ++step) {
      if (step == first_write) hold.write();
      if (current && program_.steps[step].prepared) continue;
      hook ? run_hooked(*hook, step) : run_step(step);
    }
  };
  try {
    for (size_t loop = 0; loop < program_.loops.size(); ++loop) {
      const PieceLoop& steps = program_.loops[loop];
      run_until(size_t(steps.first));
      PieceWalk walk(memory_, loop);
      for (int piece = 0; piece < steps.pieces; ++piece) {
        if (piece > 0) walk.next();
        step = size_t(steps.first);
        run_until(size_t(steps.end));
      }
    }
    run_until(memory_.steps());
    prepared.end();
  } catch (...) {
    if (step <= first_write) host_work_.undo();
    if (step >= first_write) raise_versions();  // it may have written some elements
    throw;
  }
}

/// Null where the work cannot be captured, which is said once; the loop does it then. Scratch that a step
/// took beyond its plan would be given back under the graph, so such a capture counts for nothing.
std::unique_ptr<CapturedGraph> Replay::capture() {
  std::unique_ptr<CapturedGraph> graph;
  try {
    graph = runtime(program_.device).capture([this] {
      use_current_stream();
      for (size_t step = 0; step < memory_.steps(); ++step) run_step(step);
    });
  } catch (const std::exception& error) {
    log_once(LogLevel::warning,
             fmt::format("a program cannot be captured as a graph and runs step by step: {}", error.what()));
    capturable_ = false;
  }
  if (memory_.scratch().grew()) graph.reset();
  return graph;
}

void Replay::launch_graph() {
  CapturedLock::Hold hold(lock_);
  if (!memory_.captured_writes().storages.empty()) hold.write();
  raise_versions();
  try {
    graph_->launch();
  } catch (...) {
    host_work_.undo();  // nothing of it has been done
    throw;
  }
}

void Replay::run() {
  const bool hooked = run_hook() != nullptr;
  if (!graph_ && graph_wanted_ && capturable_ && warm_ && !hooked) graph_ = capture();
  if (graph_ && !hooked)
    launch_graph();
  else
    run_once();
  warm_ = true;
}

}  // namespace treadle
