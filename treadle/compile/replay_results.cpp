#include "treadle/compile/replay_results.h"

#include <utility>

#include "treadle/graph/autograd.h"

namespace treadle {
namespace {

using Kind = ProgramBuffer::Kind;

Tensor tensor_in(const IntrusivePtr<Storage>& storage, const GraphValue& place) {
  auto data = make_intrusive<TensorData>();
  data->storage = storage;
  data->offset = place.offset;
  data->shape = place.spec.shape;
  data->strides = place.spec.strides;
  data->dtype = place.spec.dtype;
  return Tensor(std::move(data));
}

/// The argument itself, or a view of it.
Tensor view_of(const Tensor& argument, const GraphValue& place) {
  const bool whole =
      place.offset == 0 && place.spec.shape == argument.shape() && place.spec.strides == argument.strides();
  return whole ? argument : argument.alias(place.spec.shape, place.spec.strides, place.offset);
}

}  // namespace

ReplayResults::ReplayResults(const Program& program)
    : program_(program),
      storages_(size_t(program.output_buffers)),
      bytes_(storages_.size()),
      results_(program.outputs.size()),
      gradients_(program.gradients.size()),
      spares_(gradients_.size()) {
  for (const ProgramBuffer& buffer : program.buffers)
    if (buffer.kind == Kind::output) bytes_[size_t(buffer.number)] = buffer.bytes;
}

/// The number of the output buffer that a value lies in; -1 where it lies elsewhere.
int ReplayResults::output_of(int value) const {
  if (value == kNoValue) return -1;
  const ProgramBuffer& buffer = program_.buffer_of(value);
  return buffer.kind == Kind::output ? buffer.number : -1;
}

/// Whether `tensor`, a result of the last replay, is held by `holders` handles that we know, and as it was.
bool ReplayResults::is_ours(const Tensor& tensor, int value, const Storage* storage, int holders) const {
  if (!tensor.defined() || tensor.handle()->use_count() != holders || tensor.handle()->autograd) return false;
  const GraphValue& place = program_.values[size_t(value)];
  return tensor.handle()->storage.get() == storage && tensor.handle()->offset == place.offset &&
         tensor.shape() == place.spec.shape && tensor.strides() == place.spec.strides &&
         tensor.dtype() == place.spec.dtype;
}

/// Calls visit(number, tensor, value, holders) for each result, then each gradient.
template <class Visit>
void ReplayResults::each(Visit visit) {
  for (size_t i = 0; i < results_.size(); ++i) visit(i, results_[i], program_.outputs[i].value, 1);
  for (size_t i = 0; i < gradients_.size(); ++i) {
    const ExportedGradient& gradient = program_.gradients[i];
    const bool leaf_holds =
        !gradient.reads_before && leaf_gradient(gradient.leaf).handle() == gradients_[i].handle();
    visit(results_.size() + i, gradients_[i], gradient.value, leaf_holds ? 2 : 1);
  }
}

/// A gradient that is read before it is replaced is not overwritten: what was given before it is.
void ReplayResults::take_spares() {
  for (size_t i = 0; i < gradients_.size(); ++i) {
    const ExportedGradient& gradient = program_.gradients[i];
    const int output = output_of(gradient.value);
    if (!gradient.reads_before || output < 0) continue;
    if (leaf_gradient(gradient.leaf).handle() == gradients_[i].handle()) {
      std::swap(gradients_[i], spares_[i].tensor);
      std::swap(storages_[size_t(output)], spares_[i].storage);
    }
  }
}

void ReplayResults::count_owners() {
  owners_.assign(storages_.size(), 1);
  is_ours_.assign(results_.size() + gradients_.size(), 0);
  each([&](size_t i, Tensor& tensor, int value, int holders) {
    const int output = output_of(value);
    if (output >= 0 && is_ours(tensor, value, storages_[size_t(output)].get(), holders))
      is_ours_[i] = 1, ++owners_[size_t(output)];
  });
}

void ReplayResults::renew_storages() {
  for (size_t i = 0; i < storages_.size(); ++i) {
    const bool ours = storages_[i] && storages_[i]->use_count() == owners_[i];
    if (!ours) storages_[i] = make_intrusive<Storage>(program_.device, bytes_[i]);
    owners_[i] = ours;
  }
}

void ReplayResults::prepare() {
  take_spares();
  count_owners();
  renew_storages();
  each([&](size_t i, Tensor& tensor, int value, int) {
    const int output = output_of(value);
    if (output >= 0 && !(is_ours_[i] && owners_[size_t(output)]))
      tensor = tensor_in(storages_[size_t(output)], program_.values[size_t(value)]);
  });
}

/// A captured tensor is given by a handle of its own, which `made` keeps as long as nobody changes it.
Tensor ReplayResults::given(const ProgramOutput& output, Tensor& made,
                            std::span<const Tensor> arguments) const {
  if (output.existing) {
    if (!is_ours(made, output.value, output.existing.get(), 1))
      made = tensor_in(output.existing, program_.values[size_t(output.value)]);
    return made;
  }
  if (output.input < 0) return made;
  return view_of(program_.input(arguments, output.input), program_.values[size_t(output.value)]);
}

void ReplayResults::give(std::span<const Tensor> arguments, std::span<Tensor> results) {
  for (size_t i = 0; i < results.size(); ++i) results[i] = given(program_.outputs[i], results_[i], arguments);
  for (size_t i = 0; i < gradients_.size(); ++i) {
    const ExportedGradient& gradient = program_.gradients[i];
    const Tensor tensor = given(gradient, gradients_[i], arguments);
    set_leaf_gradient(gradient.leaf, gradient.input < 0 ? tensor : tensor.detach());  // the leaf's own handle
  }
}

}  // namespace treadle
