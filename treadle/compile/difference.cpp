#include "treadle/compile/difference.h"

#include <algorithm>
#include <cstring>

#include "treadle/core/error.h"
#include "treadle/core/runtime.h"
#include "treadle/graph/op.h"

namespace treadle {
namespace {

using Kind = GraphBuffer::Kind;

std::string differing_option(const Step& a, const Step& b) {
  if (!a.op->options || a.attributes.data() == b.attributes.data()) return "";
  if (!a.attributes || !b.attributes) return "its options are given only once";
  for (const OptionField& field : a.op->options->fields) {
    auto one = to_string(field.get(a.attributes.data())), other = to_string(field.get(b.attributes.data()));
    if (one != other) return fmt::format("{} was {}, then {}", field.name, one, other);
  }
  return "";
}

std::string differing_step(const RecordedGraph& first, const RecordedGraph& second, size_t at) {
  const Step &a = first.steps[at], &b = second.steps[at];
  if (a.op != b.op) return fmt::format("it was {}, then {}", a.op->name, b.op->name);
  if (auto option = differing_option(a, b); !option.empty()) return option;
  if (a.inputs != b.inputs || a.outputs != b.outputs) return "it had other operands";
  const StepRecord &one = first.records[at], &other = second.records[at];
  if (one.flows != other.flows || one.gradient_mode != other.gradient_mode)
    return "gradients flowed another way";
  return "";
}

std::vector<char> bytes_of(const Storage& storage) {
  std::vector<char> bytes(storage.bytes());
  if (!bytes.empty()) runtime(storage.device()).copy_to_host(bytes.data(), storage.data(), bytes.size());
  return bytes;
}

std::string differing_buffer(const GraphBuffer& a, const GraphBuffer& b) {
  if (a.kind != b.kind) return "a tensor came from elsewhere";
  return "";
}

std::string differing_value(const GraphValue& a, const GraphValue& b) {
  bool same = a.buffer == b.buffer && a.offset == b.offset && a.spec.shape == b.spec.shape &&
              a.spec.strides == b.spec.strides && a.spec.dtype == b.spec.dtype;
  return same ? "" : fmt::format("a tensor was {}, then {}", a.spec.shape, b.spec.shape);
}

std::string differing_steps(const Recorder& first, const Recorder& second) {
  const RecordedGraph &a = first.recorded(), &b = second.recorded();
  const size_t one = a.steps.size(), other = b.steps.size();
  for (size_t i = 0; i < std::min(one, other); ++i) {
    if (a.is_backward(i) != b.is_backward(i)) return fmt::format("step {} was backward() once only", i + 1);
    if (a.is_backward(i)) continue;
    if (auto text = differing_step(a, b, i); !text.empty())
      return fmt::format("step {}, {}: {}", i + 1, a.steps[i].op->name, text);
  }
  if (one == other) return "";
  const StepGraph& more = one > other ? a.steps : b.steps;
  return fmt::format("it made {} steps, then {}: {} {}", one, other, more[std::min(one, other)].op->name,
                     one > other ? "is missing" : "came in addition");
}

/// "operand 1 of step 3, linear, is …": the first use of a buffer.
std::string first_use(const Recorder& recorder, int buffer) {
  const StepGraph& graph = recorder.graph();
  for (size_t i = 0; i < graph.size(); ++i) {
    if (recorder.recorded().is_backward(i)) continue;
    for (size_t k = 0; k < graph[i].inputs.size(); ++k)
      if (graph[i].inputs[k] != kNoValue && graph.buffer_of(graph[i].inputs[k]) == buffer)
        return fmt::format("operand {} of step {}, {}", k, i + 1, graph[i].op->name);
  }
  return "a result";
}

/// Tensors made from numbers of the host.
std::string differing_constant(const Recorder& first, const Recorder& second, size_t buffer) {
  const GraphBuffer &a = first.graph().buffers()[buffer], &b = second.graph().buffers()[buffer];
  if (a.kind != Kind::constant || bytes_of(*a.storage) == bytes_of(*b.storage)) return "";
  std::string text = fmt::format("a tensor that it makes from numbers of the host held other values ({}",
                                 first_use(first, int(buffer)));
  for (int i = 0; i < int(first.graph().values().size()); ++i) {
    if (first.graph().buffer_of(i) != int(buffer)) continue;
    const auto one = first.tensor(i).to_doubles(), other = second.tensor(i).to_doubles();
    const auto [was, is] = std::mismatch(one.begin(), one.end(), other.begin(), other.end());
    if (was != one.end() && is != other.end()) return text + fmt::format(": it was {}, then {})", *was, *is);
  }
  return text + ")";
}

std::string differing_capture(const Recorder& first, const Recorder& second, size_t buffer) {
  const GraphBuffer &a = first.graph().buffers()[buffer], &b = second.graph().buffers()[buffer];
  if (a.kind != Kind::captured || a.storage == b.storage) return "";
  return fmt::format(
      "another tensor was captured: {} is no longer the one that it was (assign() and copy_into() change a "
      "tensor without replacing it)",
      first_use(first, int(buffer)));
}

std::string differing_tensors(const Recorder& first, const Recorder& second) {
  const StepGraph &a = first.graph(), &b = second.graph();
  if (a.buffers().size() != b.buffers().size() || a.values().size() != b.values().size())
    return "it used another number of tensors";
  for (size_t i = 0; i < a.buffers().size(); ++i)
    if (auto text = differing_buffer(a.buffers()[i], b.buffers()[i]); !text.empty()) return text;
  for (size_t i = 0; i < a.values().size(); ++i)
    if (auto text = differing_value(a.values()[i], b.values()[i]); !text.empty()) return text;
  for (size_t i = 0; i < a.buffers().size(); ++i)
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
       {differing_steps(*first.recorder, *second.recorder),
        differing_tensors(*first.recorder, *second.recorder), differing_results(first, second),
        differing_work(*first.recorder, *second.recorder)})
    if (!text.empty()) return text;
  return "";
}
}  // namespace treadle
