/// KeptBlock: what a step of a program keeps between replays, such as transformed filters.
#pragma once

#include <optional>
#include <vector>

#include "treadle/compile/program.h"
#include "treadle/graph/variant.h"

namespace treadle {

/// One block of memory of one step, filled by its variant from captured tensors. It holds until one of them
/// is written: every write in place raises its storage's version. Whoever writes elements by a raw pointer
/// raises the version himself (Storage::bump_version).
class KeptBlock {
 public:
  KeptBlock(const Program& program, size_t step) : program_(&program), step_(step) {}

  /// Memory for what the step makes of `inputs`, input numbers. None where a replay may find other elements
  /// without notice: in arguments, in what steps make, and in what a step of the program writes.
  std::optional<KeptMemory> open(size_t bytes, std::initializer_list<int> inputs);
  /// The step has run: what was open is filled.
  void close() { filled_ = bool(memory_); }
  /// Gives the memory back; another variant may fill the block anew.
  void forget() { *this = KeptBlock(*program_, step_); }
  size_t bytes() const { return memory_ ? memory_->bytes() : 0; }

 private:
  struct Source {
    const Storage* storage;
    uint64_t version;  ///< that the block was made of
  };

  void find_sources(std::initializer_list<int> inputs);
  bool is_current() const;

  const Program* program_;
  size_t step_;
  bool known_ = false, possible_ = false;
  std::vector<Source> sources_;
  IntrusivePtr<Storage> memory_;
  bool filled_ = false;
};

}  // namespace treadle
