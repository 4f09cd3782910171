/// Recording: while one is in progress in a thread, ops are written down instead of run.
///
/// The tensors that recorded ops return are symbolic: they have a shape, strides and a dtype, but no
/// elements. This is the interface that ops, autograd, modules and optimisers see; compile/ implements it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "treadle/core/tensor.h"
#include "treadle/graph/attributes.h"

namespace treadle {

struct Op;

class TREADLE_API Recording {
 public:
  /// Writes an op down and returns its symbolic outputs; for an op in place, its mutated inputs.
  virtual std::vector<Tensor> record(const Op& op, const std::vector<Tensor>& inputs,
                                     const Attributes& attributes) = 0;

  /// A symbolic one-dimensional f64 tensor on `device` that holds numbers which change between replays, such
  /// as a learning rate. `write` fills them before each replay, in the order of registration.
  virtual Tensor changing_numbers(int64_t count, Device device, std::function<void(double*)> write) = 0;

  /// Work on the host before each replay, ordered with the `write`s of changing_numbers: counting a step.
  /// `undo` takes it back when a replay fails before it has changed anything. `description` holds what is
  /// fixed in it: two recordings whose descriptions differ are not alike.
  virtual void before_replay(std::function<void()> work, std::function<void()> undo,
                             std::string description) = 0;

  /// The function depends on an object beyond its tensors: once `life` has expired it cannot be recorded
  /// again, and when `state()` differs from what it is now the program does not serve the call.
  virtual void depends_on(std::weak_ptr<const void> life, std::string description,
                          std::function<int64_t()> state) = 0;

  /// The function sets the state of such an object itself: from here on it is none that a call finds. `again`
  /// sets it after each replay; the last one for each object counts.
  virtual void sets_state(std::weak_ptr<const void> life, std::function<void()> again) = 0;

  /// Differs from that of every other recording.
  virtual uint64_t number() const = 0;

  /// Where a leaf keeps its gradient while it is recorded, in place of the leaf itself.
  virtual Tensor& gradient_of(const IntrusivePtr<AutogradState>& leaf, const Tensor& before) = 0;
  /// Sets it, whatever it was.
  virtual void set_gradient_of(const IntrusivePtr<AutogradState>& leaf, const Tensor& before,
                               const Tensor& gradient) = 0;

  /// Told around backward(): what is recorded between the two follows from the forward ops.
  virtual void begin_backward(const Tensor& root, const Tensor& upstream, bool retain_graph) = 0;
  virtual void end_backward() = 0;
  /// What backward() starts from where no upstream gradient is given.
  virtual Tensor ones_like(const Tensor& root) = 0;
  /// Whether gradient hooks are called; not when a recording is made from another one.
  virtual bool calls_hooks() const = 0;

 protected:
  ~Recording() = default;
};

/// The recording in progress in this thread, or null.
TREADLE_API Recording* recording();
/// What tells it from all others, and from none, which is 0.
inline uint64_t number_of_recording() {
  const Recording* current = recording();
  return current ? current->number() + 1 : 0;
}

namespace detail {
/// Makes `current` the recording of this thread and returns the one before.
TREADLE_API Recording* exchange_recording(Recording* current);
}  // namespace detail

}  // namespace treadle
