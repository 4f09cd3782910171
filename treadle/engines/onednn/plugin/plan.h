// A prepared call: oneDNN primitives in order, with the reorders around them and their place in the thread's
// arena.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace treadle::onednn {

using Arguments = std::vector<std::pair<int, dnnl::memory>>;

/// Attributes every primitive gets: scratch memory from the caller, no silent loss of precision.
dnnl::primitive_attr default_attributes();

/// Built once per signature, then executed with any data of that signature. Belongs to one thread.
class Plan {
 public:
  explicit Plan(dnnl::engine engine) : engine_(std::move(engine)) {}

  /// Memory of the caller's tensor number `tensor`.
  dnnl::memory tensor(int tensor, const dnnl::memory::desc& layout);
  /// Tensor number `tensor` as `wanted`: itself, or a copy that a reorder fills before what follows.
  dnnl::memory input(int tensor, const dnnl::memory::desc& given, const dnnl::memory::desc& wanted);
  /// Where to write tensor number `tensor` as `wanted`; `finish()` adds the reorder that copies it back.
  dnnl::memory output(int tensor, const dnnl::memory::desc& given, const dnnl::memory::desc& wanted);
  /// The same for a tensor that is read as well.
  dnnl::memory input_output(int tensor, const dnnl::memory::desc& given, const dnnl::memory::desc& wanted);
  /// Adds a primitive made from `descriptor`; `Primitive` is its oneDNN type.
  template <class Primitive>
  void add(const typename Primitive::primitive_desc& descriptor, Arguments arguments) {
    arguments.emplace_back(DNNL_ARG_SCRATCHPAD, temporary(descriptor.scratchpad_desc()));
    append(Primitive(descriptor), arguments);
  }
  void set_implementation(std::string name) { implementation_ = std::move(name); }
  /// Appends the reorders that outputs wait for.
  void finish();

  const std::string& implementation() const { return implementation_; }
  size_t arena_bytes() const { return arena_bytes_; }
  /// Runs on `data`, one pointer per tensor number, with `arena` of at least `arena_bytes()`.
  void execute(std::span<void* const> data, std::byte* arena, const dnnl::stream& stream);

 private:
  struct Binding {
    dnnl::memory memory;
    int tensor;     // kTemporary: in the arena
    size_t offset;  // in the arena
  };
  struct Step {
    dnnl::primitive primitive;
    std::vector<dnnl_exec_arg_t> arguments;
  };
  static constexpr int kTemporary = -1;

  dnnl::memory temporary(const dnnl::memory::desc& layout);
  void reorder(const dnnl::memory& from, const dnnl::memory& to);
  void append(dnnl::primitive primitive, const Arguments& arguments);

  dnnl::engine engine_;
  std::vector<Binding> bindings_;
  std::vector<Step> steps_;
  std::vector<std::pair<dnnl::memory, dnnl::memory>> copies_back_;
  std::string implementation_;
  size_t arena_bytes_ = 0;
};

}  // namespace treadle::onednn
