/// PreparedResults: whether the arena of an instance holds what prepared steps make.
#pragma once

#include <vector>

#include "treadle/compile/program.h"

namespace treadle {

/// Captured tensors that a value of a program follows from, at once or by prepared steps; none where it
/// follows from anything else. A tensor may be among them several times.
std::vector<const Storage*> sources_of(const Program& program, int value);

/// The results hold until one of the captured tensors is written: see KeptBlock.
class PreparedResults {
 public:
  /// Without `keeps` a replay makes them anew each time.
  PreparedResults(const Program& program, bool keeps);

  /// Whether prepared steps can be left out now.
  bool are_current() const;
  /// Around a replay that runs them.
  void begin();
  void end() { made_ = keeps_; }
  /// The arena has moved.
  void forget() { made_ = false; }

 private:
  struct Source {
    const Storage* storage;
    uint64_t version;
  };

  bool keeps_, made_ = false;
  std::vector<Source> sources_;
};

}  // namespace treadle
