/// Collects what was found, equal things once.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "treadle/simt/check/report.h"

namespace treadle::checker {

/// The launch whose blocks run.
struct Launch {
  uint64_t number = 0;  ///< from 1
  std::string kernel;
  simt::Coordinates grid{1, 1, 1}, block{1, 1, 1};
  uint64_t blocks = 1;
  const void* arguments = nullptr;
  size_t argument_bytes = 0;
};

class Findings {
 public:
  /// The process's, which is never destroyed.
  static Findings& all();

  /// Whether a report is wanted: this is the first of its kind at these addresses, or of an earlier block
  /// than all of this launch before, which with several workers may come later. Else it is only counted.
  bool is_new(const char* kind, uint64_t place, uint64_t other, uint64_t block);
  /// `report` was new by is_new with the same kind and addresses. That of the earliest block is kept.
  void add(simt::Report report, uint64_t place, uint64_t other);

  /// It was none after all: the next of the kind at these addresses is new again.
  void forget(const char* kind, uint64_t place, uint64_t other);

  void begin_launch(Launch launch, const std::string& schedule, uint64_t seed);

  /// The names of kernels that were launched since the last call.
  std::set<std::string> take_kernels();

  /// A grid ended with an error, as did all calls after it.
  void note_failure();
  bool failed();

  /// Whether there is something new since the last so_far().
  bool has_news();
  simt::RunReport so_far();
  /// What was found since the start or the last take(), counts included.
  simt::RunReport take();

 private:
  struct State;
  Findings();
  State& state_;
};

/// The launch whose blocks run, or ran last.
const Launch& current_launch();

}  // namespace treadle::checker
