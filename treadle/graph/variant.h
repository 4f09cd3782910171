/// Variant: one implementation of an op for one kind of device, and the call it serves. Light: device files
/// include it.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <span>

#include "treadle/core/device.h"
#include "treadle/core/tensor_view.h"
#include "treadle/graph/attributes.h"

namespace treadle {

/// Whose code a variant runs: Treadle's own, or a library's.
enum class Engine : uint8_t { own, onednn, cublas, cudnn };
inline constexpr Engine kAllEngines[] = {Engine::own, Engine::onednn, Engine::cublas, Engine::cudnn};

constexpr std::string_view name_of(Engine engine) {
  constexpr std::string_view kNames[] = {"own", "oneDNN", "cuBLAS", "cuDNN"};
  return kNames[int(engine)];
}

/// The kind of device that a library's variants are for.
constexpr DeviceKind device_of(Engine library) {
  return library == Engine::cublas || library == Engine::cudnn ? DeviceKind::cuda : DeviceKind::cpu;
}

/// Memory for what is made of some inputs alone, and whether it still holds what an earlier call left there.
struct KeptMemory {
  void* data;
  bool filled;
};

/// Scratch memory of one call, on the call's device; valid until the call's work is done.
class Workspace {
 public:
  virtual void* take(size_t bytes) = 0;
  /// Memory for what the call makes of `inputs` alone. Filled where the workspace knows that they are what
  /// they were when an earlier call filled it; else scratch.
  virtual KeptMemory keep(size_t bytes, std::initializer_list<int> /*inputs*/) {
    return {take(bytes), false};
  }

 protected:
  ~Workspace() = default;
};

/// One call of an op: operands in declared order, outputs already allocated.
struct Call {
  std::span<const TensorView> inputs;
  std::span<const TensorView> outputs;
  const Attributes& attributes;
  void* stream = nullptr;  ///< the device's stream; null on cpu
  Workspace* scratch = nullptr;

  const TensorView& input(int i) const { return inputs[i]; }
  const TensorView& output(int i = 0) const { return outputs[i]; }
  bool has_input(int i) const { return i < int(inputs.size()) && inputs[i].defined(); }
  template <class Options>
  const Options& options() const {
    return attributes.as<Options>();
  }
  /// Uninitialised elements on the call's device.
  template <class T>
  T* workspace(int64_t count) const {
    return static_cast<T*>(scratch->take(size_t(count) * sizeof(T)));
  }
  /// `count` elements on the call's device that `fill(T*)` makes of `inputs`, options and layouts alone, as
  /// filters laid out for the kernel. Replays of a program keep them: `fill` is not called again before an
  /// input changes. A call keeps one such block at most, and does not write to it but in `fill`.
  template <class T, class Fill>
  const T* kept(int64_t count, std::initializer_list<int> inputs, Fill fill) const {
    const KeptMemory memory = scratch->keep(size_t(count) * sizeof(T), inputs);
    T* elements = static_cast<T*>(memory.data);
    if (!memory.filled) fill(elements);
    return elements;
  }
};

struct Variant {
  const char* name;
  DeviceKind device;
  std::function<void(const Call&)> run;
  /// Whether the variant takes this call; without it, every call.
  std::function<bool(const Call&)> when = {};
  /// Among those that apply, the highest is taken unless the user names another.
  int preference = 0;
  Engine engine = Engine::own;
  /// Whether two runs give the same bits.
  bool deterministic = true;
  /// Error bound of this variant relative to a direct evaluation; Winograd and its kin state more than 1.
  double error_growth = 1;
  /// Whether it leaves out products with elements of its operands that are 0: measurements then hold for so
  /// many of them.
  bool skips_zeros = false;
  /// Its place on the op's ladder of kernels from the plainest, 1, to the fastest; 0: on none. Variants of
  /// one rung are one kernel in other sizes.
  int rung = 0;
  /// What it changes against the rung before, in a line; on a ladder only.
  const char* idea = "";
};

class Registry;

/// Adds a variant to the op of that name. Registration order does not matter.
TREADLE_API void add_variant(Registry& registry, const char* op, const Variant& variant);

}  // namespace treadle
