/// Registry: the ops that were linked, by name, with their variants.
#pragma once  // public

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "treadle/graph/fusion.h"
#include "treadle/graph/op.h"
#include "treadle/graph/step.h"

namespace treadle {

/// Says why an engine cannot be used; empty when it can.
using EngineAbsence = std::string (*)();

class TREADLE_API Registry {
 public:
  /// Declares an op. Throws ValueError when the name is taken.
  Op& add(Op op);
  void add_variant(const std::string& op, const Variant& variant);
  /// Makes an engine known; `absence` is asked when needed.
  void add_engine(Engine engine, EngineAbsence absence) { engines_[engine] = absence; }
  std::string engine_absence(Engine engine) const;
  void add_fusion(ChainFusion fusion) { chain_fusions_.push_back(std::move(fusion)); }
  void add_fusion(StepFusion fusion) { step_fusions_.push_back(std::move(fusion)); }
  /// Longer chains come first.
  const std::vector<ChainFusion>& chain_fusions() const { return chain_fusions_; }
  const std::vector<StepFusion>& step_fusions() const { return step_fusions_; }
  /// How gradients that meet are added, and how one is copied that a leaf must own; set by the ops that do
  /// so.
  void set_accumulate(Tensor (*add)(const Tensor&, const Tensor&)) { accumulate_ = add; }
  void set_clone(Tensor (*clone)(const Tensor&)) { clone_ = clone; }
  /// How a tensor becomes one of another dtype, and how a body of an op does it to `from`; likewise.
  void set_cast(Tensor (*cast)(const Tensor&, DType),
                void (*convert)(const Composition&, const TensorView& from, const TensorView& to)) {
    cast_ = cast, convert_ = convert;
  }
  /// A call that adds up x along its first axis, but for its values; likewise.
  void set_sum_over_first_axis(Step call) { sum_over_first_axis_ = std::move(call); }
  const Step& sum_over_first_axis() const { return sum_over_first_axis_; }
  Tensor clone(const Tensor& x) const { return clone_(x); }
  Tensor accumulate(const Tensor& a, const Tensor& b) const { return accumulate_(a, b); }
  Tensor cast(const Tensor& x, DType dtype) const { return cast_(x, dtype); }
  void convert(const Composition& call, const TensorView& from, const TensorView& to) const {
    convert_(call, from, to);
  }

  const Op& find(const std::string& name) const;
  bool contains(const std::string& name) const;
  /// Sorted by name.
  std::vector<const Op*> ops() const;
  /// Attaches variants that were registered before their op, and sorts: variants by preference, chains by
  /// length, last fusions behind the others. Throws for unknown ops.
  void finish();

 private:
  std::map<std::string, std::unique_ptr<Op>> ops_;
  std::vector<std::pair<std::string, Variant>> waiting_;
  std::map<Engine, EngineAbsence> engines_;
  std::vector<ChainFusion> chain_fusions_;
  std::vector<StepFusion> step_fusions_;
  Tensor (*accumulate_)(const Tensor&, const Tensor&) = nullptr;
  Tensor (*clone_)(const Tensor&) = nullptr;
  Tensor (*cast_)(const Tensor&, DType) = nullptr;
  void (*convert_)(const Composition&, const TensorView&, const TensorView&) = nullptr;
  Step sum_over_first_axis_;
};

/// The process's registry, filled on first use.
TREADLE_API const Registry& registry();

/// As Registry::add_engine, for code that may lie in a plugin: see device_plugin.h.
TREADLE_API void add_engine(Registry& registry, Engine engine, EngineAbsence absence);

/// Why an engine cannot be used; empty when it can.
TREADLE_API std::string absence_of(Engine engine);

/// The op of that name, for a typed function: `static const Op& op = op_named("relu");`
TREADLE_API const Op& op_named(const std::string& name);

namespace detail {
/// Filled by the generated register_everything().
Registry& mutable_registry();
}  // namespace detail

}  // namespace treadle
