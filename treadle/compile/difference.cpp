#include "treadle/compile/difference.h"

#include <algorithm>
#include <cstring>

#include "treadle/core/error.h"
#include "treadle/core/runtime.h"
#include "treadle/graph/op.h"

namespace treadle {
namespace {

using Kind = RecordedBuffer::Kind;

std::string differing_option(const RecordedStep& a, const RecordedStep& b) {
  if (!a.op->options || a.attributes.data() == b.attributes.data()) return "";
  if (!a.attributes || !b.attributes) return "its options are given only once";
  for (const OptionField& field : a.op->options->fields) {
    auto one = to_string(field.get(a.attributes.data())), other = to_string(field.get(b.attributes.data()));
    if (one != other) return fmt::format("{} was {}, then {}", field.name, one, other);
  }
  return "";
}

std::string differing_step(const RecordedStep& a, const RecordedStep& b) {
  if (a.op != b.op) return fmt::format("it was {}, then {}", a.op->name, b.op->name);
  if (auto option = differing_option(a, b); !option.empty()) return option;
  if (a.inputs != b.inputs || a.outputs != b.outputs) return "it had other operands";
  if (a.flows != b.flows || a.gradient_mode != b.gradient_mode) return "gradients flowed another way";
  return "";
}

std::vector<char> bytes_of(const Storage& storage) {
  std::vector<char> bytes(storage.bytes());
  if (!bytes.empty()) runtime(storage.device()).copy_to_host(bytes.data(), storage.data(), bytes.size());
  return bytes;
}

std::string differing_buffer(const RecordedBuffer& a, const RecordedBuffer& b) {
  if (a.kind != b.kind) return "a tensor came from elsewhere";
  return "";
}

std::string differing_value(const RecordedValue& a, const RecordedValue& b) {
  bool same = a.buffer == b.buffer && a.offset == b.offset && a.spec.shape == b.spec.shape &&
              a.spec.strides == b.spec.strides && a.spec.dtype == b.spec.dtype;
  return same ? "" : fmt::format("a tensor was {}, then {}", a.spec.shape, b.spec.shape);
}

std::string differing_events(const Recorder& first, const Recorder& second) {
  const auto &a = first.events(), &b = second.events();
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    auto *one = std::get_if<RecordedStep>(&a[i]), *other = std::get_if<RecordedStep>(&b[i]);
    if (!one != !other) return fmt::format("step {} was backward() once only", i + 1);
    if (!one) continue;
    if (auto text = differing_step(*one, *other); !text.empty())
      return fmt::format("step {}, {}: {}", i + 1, one->op->name, text);
  }
  if (a.size() == b.size()) return "";
  const auto& more = a.size() > b.size() ? a : b;
  auto* step = std::get_if<RecordedStep>(&more[std::min(a.size(), b.size())]);
  return fmt::format("it made {} steps, then {}: {} {}", a.size(), b.size(),
                     step ? step->op->name : "backward()",
                     a.size() > b.size() ? "is missing" : "came in addition");
}

/// "operand 1 of step 3, linear, is …": the first use of a buffer.
std::string first_use(const Recorder& recorder, int buffer) {
  for (size_t i = 0; i < recorder.events().size(); ++i) {
    auto* step = std::get_if<RecordedStep>(&recorder.events()[i]);
    for (size_t k = 0; step && k < step->inputs.size(); ++k)
      if (step->inputs[k] != kNoValue && recorder.values()[size_t(step->inputs[k])].buffer == buffer)
        return fmt::format("operand {} of step {}, {}", k, i + 1, step->op->name);
  }
  return "a result";
}

/// Tensors made from numbers of the host.
std::string differing_constant(const Recorder& first, const Recorder& second, size_t buffer) {
  const RecordedBuffer &a = first.buffers()[buffer], &b = second.buffers()[buffer];
  if (a.kind != Kind::constant || bytes_of(*a.storage) == bytes_of(*b.storage)) return "";
  std::string text = fmt::format("a tensor that it makes from numbers of the host held other values ({}",
                                 first_use(first, int(buffer)));
  for (size_t i = 0; i < first.values().size(); ++i) {
    if (first.values()[i].buffer != int(buffer)) continue;
    const auto one = first.values()[i].tensor.to_doubles(), other = second.values()[i].tensor.to_doubles();
    const auto [was, is] = std::mismatch(one.begin(), one.end(), other.begin(), other.end());
    if (was != one.end() && is != other.end()) return text + fmt::format(": it was {}, then {})", *was, *is);
  }
  return text + ")";
}

std::string differing_capture(const Recorder& first, const Recorder& second, size_t buffer) {
  const RecordedBuffer &a = first.buffers()[buffer], &b = second.buffers()[buffer];
  if (a.kind != Kind::captured || a.storage == b.storage) return "";
  return fmt::format(
      "another tensor was captured: {} is no longer the one that it was (assign() and copy_into() change a "
      "tensor without replacing it)",
      first_use(first, int(buffer)));
}

std::string differing_tensors(const Recorder& first, const Recorder& second) {
  if (first.buffers().size() != second.buffers().size() || first.values().size() != second.values().size())
    return "it used another number of tensors";
  for (size_t i = 0; i < first.buffers().size(); ++i)
    if (auto text = differing_buffer(first.buffers()[i], second.buffers()[i]); !text.empty()) return text;
  for (size_t i = 0; i < first.values().size(); ++i)
    if (auto text = differing_value(first.values()[i], second.values()[i]); !text.empty()) return text;
  for (size_t i = 0; i < first.buffers().size(); ++i)
    for (auto differing : {differing_capture, differing_constant})
      if (auto text = differing(first, second, i); !text.empty()) return text;
  return "";
}

/// All values are known by now.
int value_in(const FunctionRecording& recording, const Tensor& tensor) {
  return recording.recorder->value_of(tensor);
}

std::string differing_results(const FunctionRecording& first, const FunctionRecording& second) {
  if (first.results.size() != second.results.size())
    return fmt::format("it returned {} tensors, then {}", first.results.size(), second.results.size());
  for (size_t i = 0; i < first.results.size(); ++i)
    if (value_in(first, first.results[i]) != value_in(second, second.results[i]))
      return fmt::format("it returned another tensor as result {}", i);
  const auto &a = first.recorder->leaf_slots(), &b = second.recorder->leaf_slots();
  if (a.size() != b.size()) return "it used the gradients of other tensors";
  for (size_t i = 0; i < a.size(); ++i) {
    if (value_in(first, a[i].now) != value_in(second, b[i].now) || a[i].reads_before != b[i].reads_before)
      return "it left other gradients";
  }
  return "";
}

/// What it does on the host before each replay.
std::string differing_work(const Recorder& first, const Recorder& second) {
  const auto &a = first.host_work(), &b = second.host_work();
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::string one = i < a.size() ? a[i].description : "nothing more";
    const std::string other = i < b.size() ? b[i].description : "nothing more";
    if (one != other) return fmt::format("beside its ops it did {}, then {}", one, other);
  }
  return "";
}

}  // namespace

std::string difference(const FunctionRecording& first, const FunctionRecording& second) {
  for (const auto& text :
       {differing_events(*first.recorder, *second.recorder),
        differing_tensors(*first.recorder, *second.recorder), differing_results(first, second),
        differing_work(*first.recorder, *second.recorder)})
    if (!text.empty()) return text;
  return "";
}
}  // namespace treadle
