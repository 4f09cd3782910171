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

/// Pieces of a batch have the captured tensors as they were for the first of them. Versions rise while nobody
/// else reads.
void Replay::run_loop() {
  use_current_stream();
  CapturedLock::Hold hold(lock_);
  for (int piece = 0; piece < program_.pieces; ++piece) {
    if (piece > 0) memory_.go_to_next_piece();
    run_steps(hold);
  }
  raise_versions();
}

void Replay::run_steps(CapturedLock::Hold& hold) {
  const size_t first_write = memory_.captured_writes().first_step;
  RunHook* const hook = run_hook();
  PreparedResults& prepared = memory_.prepared();
  const bool current = prepared.are_current();
  if (!current) prepared.begin();
  size_t step = 0;
  try {
    for (; step < memory_.steps(); ++step) {
      if (step == first_write) hold.write();
      if (current && program_.steps[step].prepared) continue;
      hook ? run_hooked(*hook, step) : run_step(step);
    }
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
    run_loop();
  warm_ = true;
}

}  // namespace treadle
