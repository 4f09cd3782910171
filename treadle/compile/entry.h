/// Entry: one program of a compiled function, and the calls that it serves.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "treadle/compile/difference.h"
#include "treadle/compile/instance.h"
#include "treadle/graph/settings.h"

namespace treadle {

/// What of its arguments and surroundings alone decides which program serves a call.
struct CallSignature {
  std::vector<TensorSpec> specs;
  Device device;
  bool gradient_mode = true;
  DType autocast = DType::f32;
  Settings settings;

  static CallSignature of(std::span<const Tensor> arguments);
  /// Without making a signature of the call: nothing is allocated.
  bool matches(std::span<const Tensor> arguments) const;
  std::string to_string() const;
};

/// A tensor of the surroundings as it was when it was captured.
struct CapturedTensor {
  Tensor tensor, before;  ///< `before` is another handle: assign() does not change it
  bool requires_grad;
  size_t hooks;

  static CapturedTensor of(const Tensor& tensor);
  bool has_moved() const;
};

/// A gradient from before the call that the program depends on.
struct ReadGradient {
  IntrusivePtr<AutogradState> leaf;
  TensorSpec spec;  ///< not defined where there was none
  Tensor pinned;    ///< the only one that the program takes, where it must not be another
  size_t input;     ///< its number among the inputs, where it is one
};

/// How an argument or gradient must lie in memory for a program to take it.
enum class Placement : uint8_t { anywhere, aligned, unaligned };

class Entry {
 public:
  /// `recorded` is the function called with `arguments`. Throws RecordingError.
  Entry(std::span<const Tensor> arguments, FunctionRecording recorded, Pins pins, bool fuse);

  /// Whether it serves a call of its signature. Allocates nothing.
  bool holds(std::span<const Tensor> arguments) const;
  /// Whether it can hardly serve one again: a tensor has moved, or a gradient that it adds to is gone.
  bool is_stale() const;
  /// Why it does not hold: "the module … is in another state".
  std::string reason_against(std::span<const Tensor> arguments) const;
  /// Arguments and gradients that share memory with what the program writes: to be pinned in another
  /// recording, which then knows the order of reading and writing. False where there are none.
  bool find_shared_memory(std::span<const Tensor> arguments, Pins& pins) const;
  /// Something that the function needs for being recorded again, and that is gone; null where there is
  /// nothing.
  const Dependency* lost_dependency() const;
  bool sets_states() const { return !state_changes_.empty(); }
  /// Sets the states again that the function sets.
  void repeat_state_changes() const;
  /// What the variants assume of addresses, once they are chosen.
  void set_placements(std::span<const Tensor> arguments, const std::vector<bool>& alignment_matters);

  CallSignature signature;
  Pins pins;
  std::shared_ptr<Program> program;
  FunctionRecording recorded;  ///< to be compared with later ones
  bool updates = false;        ///< whether a call changes anything but its results
  int64_t calls = 0;           ///< guarded by the function that it belongs to, as is the next
  int64_t next_comparison = 2;

  std::mutex pool;  ///< guards what follows
  std::vector<std::unique_ptr<ProgramInstance>> idle;
  size_t memory_bytes = 0;
  int threads = 1;

 private:
  /// What is not as it was recorded: "{} was frozen", with what stands for {}.
  struct Change {
    const char* what = nullptr;
    const Shape* shape = nullptr;
    const std::string* name = nullptr;
  };
  Change change() const;
  void find_read_gradients();
  bool is_written(const Tensor& tensor) const;
  bool takes(const Tensor& tensor, size_t input, const Tensor& pinned) const;
  bool takes_arguments(std::span<const Tensor> arguments) const;
  bool takes_gradient(const ReadGradient& gradient) const;

  std::vector<Tensor> pinned_arguments_;  ///< undefined where another may take its place
  std::vector<CapturedTensor> captured_;
  std::vector<ReadGradient> read_gradients_;
  std::vector<Dependency> dependencies_;
  std::vector<StateChange> state_changes_;
  std::vector<IntrusivePtr<Storage>> written_;  ///< captured storages that the program writes
  std::vector<Placement> placements_;           ///< by input, gradients behind arguments
};

}  // namespace treadle
