#include "treadle/engines/onednn/plugin/plan.h"

namespace treadle::onednn {

namespace {

constexpr size_t kAlignment = 64;

size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

void check(dnnl_status_t status, const char* what) { dnnl::error::wrap_c_api(status, what); }

}  // namespace

dnnl::primitive_attr default_attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_fpmath_mode(dnnl::fpmath_mode::strict);
  return attributes;
}

dnnl::memory Plan::tensor(int tensor, const dnnl::memory::desc& layout) {
  bindings_.push_back({dnnl::memory(layout, engine_, DNNL_MEMORY_NONE), tensor, 0});
  return bindings_.back().memory;
}

dnnl::memory Plan::temporary(const dnnl::memory::desc& layout) {
  bindings_.push_back({dnnl::memory(layout, engine_, DNNL_MEMORY_NONE), kTemporary, arena_bytes_});
  arena_bytes_ += aligned(layout.get_size());
  return bindings_.back().memory;
}

dnnl::memory Plan::input(int number, const dnnl::memory::desc& given, const dnnl::memory::desc& wanted) {
  dnnl::memory source = tensor(number, given);
  if (given == wanted) return source;
  dnnl::memory copy = temporary(wanted);
  reorder(source, copy);
  return copy;
}

dnnl::memory Plan::output(int number, const dnnl::memory::desc& given, const dnnl::memory::desc& wanted) {
  dnnl::memory destination = tensor(number, given);
  if (given == wanted) return destination;
  dnnl::memory inner = temporary(wanted);
  copies_back_.emplace_back(inner, destination);
  return inner;
}

dnnl::memory Plan::input_output(int number, const dnnl::memory::desc& given,
                                const dnnl::memory::desc& wanted) {
  dnnl::memory inner = input(number, given, wanted);
  if (given != wanted) copies_back_.emplace_back(inner, tensor(number, given));
  return inner;
}

void Plan::reorder(const dnnl::memory& from, const dnnl::memory& to) {
  const dnnl::reorder::primitive_desc descriptor(engine_, from.get_desc(), engine_, to.get_desc(),
                                                 default_attributes());
  add<dnnl::reorder>(descriptor, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

void Plan::finish() {
  for (const auto& [from, to] : copies_back_) reorder(from, to);
  copies_back_.clear();
}

void Plan::append(dnnl::primitive primitive, const Arguments& arguments) {
  // Raw handles: the bindings keep the memory objects alive, and executing through the C call allocates no
  // map.
  Step step{std::move(primitive), {}};
  for (const auto& [name, memory] : arguments) step.arguments.push_back({name, memory.get()});
  steps_.push_back(std::move(step));
}

void Plan::execute(std::span<void* const> data, std::byte* arena, const dnnl::stream& stream) {
  for (const Binding& binding : bindings_)
    binding.memory.set_data_handle(binding.tensor == kTemporary ? arena + binding.offset
                                                                : data[binding.tensor]);
  for (const Step& step : steps_)
    check(dnnl_primitive_execute(step.primitive.get(), stream.get(), static_cast<int>(step.arguments.size()),
                                 step.arguments.data()),
          "oneDNN could not execute a primitive");
}

}  // namespace treadle::onednn
