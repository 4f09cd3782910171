/// Composition: a call of an op as the op's body in terms of other ops sees it. Op::compose is such a body;
/// the variant "composed" runs it, on every device.
#pragma once  // public

#include <functional>
#include <initializer_list>
#include <span>

#include "treadle/core/export.h"
#include "treadle/graph/variant.h"

namespace treadle {

struct Op;

/// The operands of a call inside a composition: written out, or those of the whole call.
class Operands : public std::span<const TensorView> {
 public:
  Operands(std::span<const TensorView> views) : span(views) {}
  Operands(std::initializer_list<TensorView> views) : span(views.begin(), views.size()) {}
};

class TREADLE_API Composition {
 public:
  Composition(const Call& call, DeviceKind device) : call_(call), device_(device) {}

  std::span<const TensorView> inputs() const { return call_.inputs; }
  std::span<const TensorView> outputs() const { return call_.outputs; }
  const TensorView& input(int i) const { return call_.input(i); }
  const TensorView& output(int i = 0) const { return call_.output(i); }
  bool has_input(int i) const { return call_.has_input(i); }
  const Attributes& attributes() const { return call_.attributes; }
  template <class Options>
  const Options& options() const {
    return call_.options<Options>();
  }

  /// Row-major, uninitialised; valid until the call's work is done.
  TensorView scratch(const Shape& shape, DType dtype) const;

  /// Runs another op by the variant that the settings prefer. The outputs have the shapes and dtypes that the
  /// op infers; without elements nothing is run. They may lie over an input of the same layout where the op
  /// works element by element. Throws what choosing a variant throws. Attributes that are the same for every
  /// call are made once, so that replays allocate nothing.
  void run(const Op& op, Operands inputs, Operands outputs, const Attributes& attributes = {}) const;

 private:
  const Call& call_;
  DeviceKind device_;
};

/// An op's body in terms of other ops.
using Compose = std::function<void(const Composition& call)>;

/// The variant that runs the body of `op`, which stays where it is. It counts as fast: what it is made of may
/// be.
Variant composed_variant(const Op& op, DeviceKind device);

}  // namespace treadle
