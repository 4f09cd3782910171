/// ProgramInstance: a program's memory, and its replay.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "treadle/compile/captured_lock.h"
#include "treadle/compile/kept.h"
#include "treadle/compile/program.h"
#include "treadle/core/runtime.h"

namespace treadle {

/// Scratch for the steps of a replay: for each step a free part of the arena, as large as the step asked for
/// in earlier replays. What does not fit comes from the allocator. What steps keep lies outside of it.
class ReplayWorkspace final : public Workspace {
 public:
  explicit ReplayWorkspace(Device device) : device_(device) {}
  void* take(size_t bytes) override;
  KeptMemory keep(size_t bytes, std::initializer_list<int> inputs) override;
  /// Before each step. Without `kept` it keeps nothing.
  void use(void* memory, size_t bytes, KeptBlock* kept);
  /// Bytes that the step has asked for.
  size_t taken() const { return taken_; }

 private:
  Device device_;
  char* memory_ = nullptr;
  size_t bytes_ = 0, taken_ = 0;
  KeptBlock* kept_ = nullptr;  ///< until the step has asked for it
  std::vector<IntrusivePtr<Storage>> overflow_;
};

/// What the choice of a variant may look at in an address: whether it is a multiple of this.
inline constexpr size_t kVariantAlignment = 16;

/// One thread at a time runs an instance; several instances may run one program at the same time when it
/// mutates nothing: each has an arena and kept blocks of its own.
class ProgramInstance {
 public:
  /// With `graph`, replays after the first one launch a graph that the device has captured, if it can.
  ProgramInstance(std::shared_ptr<Program> program, bool graph);

  /// Replays the program. `results` has one entry per output; memory of results that the caller has dropped
  /// is used again.
  void run(std::span<const Tensor> arguments, std::span<Tensor> results);

  /// Chooses the variants of the program's steps: as the user named them, else by measurements with these
  /// arguments where `measure` is set, else by declared order. What steps write of captured tensors is a copy
  /// meanwhile.
  void choose_variants(std::span<const Tensor> arguments, bool measure);
  /// By input, gradients behind arguments: whether other variants apply where its address is no multiple of
  /// kVariantAlignment. For use after choose_variants.
  std::vector<bool> inputs_with_alignment();

  /// Bytes of the arena, scratch included, of what steps keep, and of the outputs.
  size_t memory_bytes() const;
  const Program& program() const { return *program_; }
  /// The captured graph; null before the second replay, and where replays are a loop.
  const CapturedGraph* graph() const { return graph_.get(); }
  const Storage& arena() const { return *arena_; }
  /// Told after every step while set: its number and seconds.
  std::function<void(size_t, double)> on_step;

 private:
  struct Patch {
    int buffer_number;
    size_t view;
    size_t byte_offset;
  };

  /// A result as it was given last, and its memory; a program that reads a gradient and replaces it has two.
  struct Spare {
    Tensor tensor;
    IntrusivePtr<Storage> storage;
  };
  class Copies;

  void find_mutations();
  void make_views();
  void plan_scratch();
  void begin_step(size_t step);
  void end_step(size_t step);
  void time_variants(size_t step);
  void add_view(int value);
  void* address_of(const ProgramBuffer& buffer) const;
  const Tensor& input(std::span<const Tensor> arguments, int number) const;
  int inputs() const { return program_->arguments + int(program_->gradient_inputs.size()); }
  void bind(std::span<const Tensor> arguments);
  void bind_fixed(std::span<const Tensor> arguments);
  void replay();
  void use_current_stream();
  std::unique_ptr<CapturedGraph> capture_steps();
  void launch_graph();
  void copy_results();
  void bind_results();
  void take_spares();
  int output_of(int value) const;
  bool is_ours(const Tensor& tensor, int value, const Storage* storage, int holders) const;
  Tensor tensor_in(const IntrusivePtr<Storage>& storage, int value) const;
  void apply(const Patch& patch, void* memory);
  void run_host_work();
  void write_numbers(const HostWork& work);
  void send_numbers();
  void undo_host_work(size_t count);
  void run_step(size_t step);
  void run_steps();
  void raise_versions();
  Tensor given(const ProgramOutput& output, Tensor& made, std::span<const Tensor> arguments) const;
  void give(std::span<const Tensor> arguments, std::span<Tensor> results);
  bool choose_by_rule();
  void measure_steps();
  std::vector<std::vector<const Variant*>> applicable() const;

  std::shared_ptr<Program> program_;
  IntrusivePtr<Storage> arena_;
  Tensor numbers_;
  std::vector<double> host_numbers_;
  std::vector<TensorView> views_;
  std::vector<Call> calls_;
  std::vector<Patch> input_patches_, output_patches_, arena_patches_;
  std::vector<Patch> mutated_patches_;  ///< views of mutated_, by number
  std::vector<IntrusivePtr<Storage>> output_storages_;
  std::vector<size_t> output_bytes_;
  std::vector<Tensor> results_, gradients_;
  std::vector<Spare> spares_;                   ///< by gradient
  std::vector<int> result_owners_;              ///< scratch of bind_results
  std::vector<char> result_is_ours_;            ///< the same: results, then gradients
  std::vector<IntrusivePtr<Storage>> mutated_;  ///< captured tensors that steps write into
  ReplayWorkspace workspace_;
  /// By step: what it needs, and its place in the arena.
  std::vector<size_t> scratch_bytes_, scratch_offsets_, planned_bytes_;
  bool scratch_grew_ = false;
  std::vector<KeptBlock> kept_;  ///< by step
  size_t first_mutation_;        ///< the first step that writes into one
  CapturedLock lock_;

  // A graph keeps its addresses: arguments are copied to a fixed place, results from one.
  bool graph_wanted_;
  bool capturable_ = true;  ///< until a capture has failed
  bool warm_ = false;
  std::unique_ptr<CapturedGraph> graph_;
  std::vector<IntrusivePtr<Storage>> fixed_inputs_, fixed_outputs_;
};

}  // namespace treadle
