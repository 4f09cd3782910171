/// ReplayHostWork: what is done on the host before the steps of a replay.
#pragma once

#include <vector>

#include "treadle/compile/program.h"

namespace treadle {

/// A program's work on the host, such as counting a step, and the memory of the numbers that change between
/// replays, such as a learning rate.
class ReplayHostWork {
 public:
  explicit ReplayHostWork(const Program& program);

  /// Does the work and sends the numbers, in the order of recording. What throws takes back what was done.
  void run();
  /// Takes back all of it, the last first.
  void undo() { undo(program_.host_work.size()); }
  /// Sends the numbers as they are now and does nothing else.
  void send_numbers_alone();
  /// Where on the device numbers[number] of the program lie.
  double* numbers(int number) const;

 private:
  void write_numbers(const HostWork& work);
  void send_numbers();
  void undo(size_t count);

  const Program& program_;
  Tensor numbers_;
  std::vector<double> host_numbers_;
};

}  // namespace treadle
