#include "treadle/compile/entry.h"

#include <algorithm>

#include "treadle/compile/tuning.h"
#include "treadle/core/error.h"
#include "treadle/graph/autocast.h"

namespace treadle {
namespace {

bool has_spec(const Tensor& tensor, const TensorSpec& spec) {
  return tensor.shape() == spec.shape && tensor.strides() == spec.strides && tensor.dtype() == spec.dtype;
}

bool same_place(const Tensor& a, const Tensor& b) {
  return a.handle()->storage == b.handle()->storage && a.handle()->offset == b.handle()->offset;
}

bool is_aligned(const Tensor& tensor) {
  return reinterpret_cast<uintptr_t>(tensor.raw()) % kVariantAlignment == 0;
}

}  // namespace

CallSignature CallSignature::of(std::span<const Tensor> arguments) {
  CallSignature signature;
  for (const Tensor& argument : arguments) {
    signature.specs.push_back(TensorSpec::of(argument));
    signature.device = argument.device();
  }
  signature.gradient_mode = treadle::gradient_mode();
  signature.autocast = autocast_dtype();
  signature.settings = treadle::settings();
  return signature;
}

bool CallSignature::matches(std::span<const Tensor> arguments) const {
  if (arguments.size() != specs.size() || gradient_mode != treadle::gradient_mode() ||
      autocast != autocast_dtype())
    return false;
  for (size_t i = 0; i < specs.size(); ++i)
    if (!has_spec(arguments[i], specs[i]) || !(arguments[i].device() == device)) return false;
  return settings == treadle::settings();
}

std::string CallSignature::to_string() const {
  std::string text;
  for (const TensorSpec& spec : specs)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name_of(spec.dtype), spec.shape);
  if (autocast != DType::f32) text += fmt::format(", autocast to {}", name_of(autocast));
  return text + (gradient_mode ? "" : ", no gradients");
}

CapturedTensor CapturedTensor::of(const Tensor& tensor) {
  return {tensor, tensor.detach(), tensor.requires_grad(), gradient_hooks(tensor)};
}

bool CapturedTensor::has_moved() const {
  return !same_place(tensor, before) || !(tensor.shape() == before.shape()) ||
         !(tensor.strides() == before.strides()) || tensor.dtype() != before.dtype();
}

Entry::Entry(std::span<const Tensor> arguments, FunctionRecording recording, Pins pinned, bool fuse)
    : signature(CallSignature::of(arguments)), pins(std::move(pinned)), recorded(std::move(recording)) {
  Recorder& recorder = *recorded.recorder;
  program = build_program(recorder, recorded.results, arguments, fuse);
  verify_program(*program);
  written_ = program->captured_writes().storages;
  updates = !written_.empty() || !program->gradients.empty() || !program->gradient_inputs.empty() ||
            !program->host_work.empty();
  for (size_t i = 0; i < arguments.size(); ++i)
    pinned_arguments_.push_back(pins.argument(i) ? arguments[i].detach() : Tensor());
  for (const Dependency& dependency : recorder.dependencies())
    if (!dependency.life.expired()) dependencies_.push_back(dependency);  // not made by the function
  state_changes_ = recorder.state_changes();
  find_read_gradients();
  for (const Tensor& tensor : recorder.captured_tensors()) captured_.push_back(CapturedTensor::of(tensor));
  placements_.assign(arguments.size() + program->gradient_inputs.size(), Placement::anywhere);
}

void Entry::find_read_gradients() {
  const auto& leaves = program->gradient_inputs;
  for (const LeafSlot& slot : recorded.recorder->leaf_slots()) {
    if (!slot.reads_before) continue;
    const auto place = std::find(leaves.begin(), leaves.end(), slot.leaf) - leaves.begin();
    read_gradients_.push_back({slot.leaf, TensorSpec::of(slot.found), pins.gradients ? slot.found : Tensor(),
                               size_t(program->arguments + place)});
  }
}

bool Entry::is_written(const Tensor& tensor) const {
  return std::find(written_.begin(), written_.end(), tensor.handle()->storage) != written_.end();
}

/// Whether a tensor of the right shape may be an input: where it lies.
bool Entry::takes(const Tensor& tensor, size_t input, const Tensor& pinned) const {
  if (pinned.defined()) return same_place(tensor, pinned);
  if (is_written(tensor)) return false;
  return placements_[input] == Placement::anywhere ||
         is_aligned(tensor) == (placements_[input] == Placement::aligned);
}

bool Entry::takes_arguments(std::span<const Tensor> arguments) const {
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!takes(arguments[i], i, pinned_arguments_[i])) return false;
  return true;
}

bool Entry::takes_gradient(const ReadGradient& read) const {
  const Tensor& now = leaf_gradient(read.leaf);
  if (now.defined() != read.spec.defined) return false;
  if (!now.defined()) return true;
  if (read.pinned.defined()) return now.same_as(read.pinned);
  if (!has_spec(now, read.spec) || !(now.device() == program->device)) return false;
  return takes(now, read.input, {});
}

Entry::Change Entry::change() const {
  for (const CapturedTensor& one : captured_) {
    const Shape* shape = &one.before.shape();
    if (one.has_moved()) return {"a tensor {} that it uses has moved", shape};
    if (one.tensor.requires_grad() != one.requires_grad)
      return {"a tensor {} that it uses was told otherwise whether it requires a gradient", shape};
    if (gradient_hooks(one.tensor) != one.hooks) return {"a tensor {} has got a gradient hook", shape};
  }
  for (const ReadGradient& read : read_gradients_)
    if (!takes_gradient(read)) return {"a gradient {} that it depends on is another", &read.spec.shape};
  for (const Dependency& dependency : dependencies_)
    if (dependency.state && !dependency.life.expired() && dependency.state() != dependency.recorded_state)
      return {"{} is in another state", nullptr, &dependency.description};
  return {};
}

bool Entry::holds(std::span<const Tensor> arguments) const {
  return takes_arguments(arguments) && !change().what;
}

std::string Entry::reason_against(std::span<const Tensor> arguments) const {
  if (!takes_arguments(arguments)) return "an argument lies elsewhere in memory";
  const Change found = change();
  if (!found.what) return "nothing has changed";
  const std::string subject = found.shape ? treadle::to_string(*found.shape) : *found.name;
  return fmt::format(fmt::runtime(found.what), subject);
}

bool Entry::is_stale() const {
  for (const CapturedTensor& one : captured_)
    if (one.has_moved()) return true;
  for (const ReadGradient& read : read_gradients_)
    if (read.pinned.defined() && !leaf_gradient(read.leaf).same_as(read.pinned)) return true;
  return false;
}

bool Entry::find_shared_memory(std::span<const Tensor> arguments, Pins& more) const {
  bool found = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (pins.argument(i) || !is_written(arguments[i])) continue;
    more.arguments.resize(arguments.size());
    more.arguments[i] = found = true;
  }
  for (const ReadGradient& read : read_gradients_)
    if (!pins.gradients && read.spec.defined && is_written(leaf_gradient(read.leaf)))
      more.gradients = found = true;
  return found;
}

const Dependency* Entry::lost_dependency() const {
  for (const Dependency& dependency : dependencies_)
    if (dependency.life.expired()) return &dependency;
  return nullptr;
}

void Entry::repeat_state_changes() const {
  for (const StateChange& change : state_changes_)
    if (!change.life.expired()) change.again();
}

void Entry::set_placements(std::span<const Tensor> arguments, const std::vector<bool>& alignment_matters) {
  for (size_t i = 0; i < placements_.size(); ++i) {
    if (!alignment_matters[i]) continue;
    const Tensor& tensor =
        i < arguments.size() ? arguments[i] : leaf_gradient(program->gradient_inputs[i - arguments.size()]);
    placements_[i] = is_aligned(tensor) ? Placement::aligned : Placement::unaligned;
  }
}

}  // namespace treadle
