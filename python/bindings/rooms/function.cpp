/// Functions of Python's with a gradient of their own: what treadle.autograd.Function is made of.
///
/// forward() is run outside of the graph; one op without work then connects its results with the operands,
/// and its gradient is Python's backward(). The op is a step of recordings like others, which leaves no trace
/// in a program.
#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

#include "python/bindings/arguments.h"
#include "python/bindings/held_object.h"
#include "python/bindings/rooms.h"
#include "treadle/core/error.h"
#include "treadle/graph/op.h"
#include "treadle/ops/fill/fill.h"

namespace treadle::python {
namespace {

/// What tells the connecting ops of functions apart. Operands are the function's, then its results, then what
/// it saves beside results.
struct Form {
  std::string name;
  int operands = 0, results = 0;
  std::vector<int> saved;  ///< result k as k, others in order as −1
  std::vector<int> not_differentiable;

  auto key() const { return std::tie(name, operands, results, saved, not_differentiable); }
  bool operator<(const Form& other) const { return key() < other.key(); }
  std::vector<Saved> saves() const {
    std::vector<Saved> list;
    int next = operands + results;
    for (int place : saved)
      list.push_back(place < 0 ? Saved{Saved::input, next++} : Saved{Saved::output, place});
    return list;
  }
};

/// The gradient that arrived for result k; None, or zeros, where none has.
nb::object arrived(const GradientContext& context, int k, Device device, bool zeros) {
  const Tensor upstream = context.upstream(k);
  if (upstream.defined()) return nb::cast(upstream);
  const TensorSpec& spec = context.output_spec(k);
  if (!zeros || !is_floating(spec.dtype)) return nb::none();
  return nb::cast(full(spec.shape, 0, spec.dtype, device));
}

std::vector<Tensor> gradient_of(const Form& form, const GradientContext& context) {
  nb::gil_scoped_acquire acquired;
  const nb::handle of_call = context.options<HeldObject>().get();
  nb::list saved, upstream, needs;
  for (const Saved& one : form.saves())
    saved.append(one.kind == Saved::input ? context.input(one.index) : context.output(one.index));
  Device device;
  for (int k = 0; k < form.results; ++k)
    if (const Tensor given = context.upstream(k); given.defined()) device = given.device();
  const bool zeros = nb::cast<bool>(of_call.attr("_materialize"));
  for (int k = 0; k < form.results; ++k) upstream.append(arrived(context, k, device, zeros));
  for (int i = 0; i < form.operands; ++i) needs.append(context.needs(i));
  std::vector<Tensor> gradients;
  for (nb::handle one : nb::cast<nb::list>(of_call.attr("_gradients")(saved, upstream, needs)))
    gradients.push_back(one.is_none() ? Tensor() : nb::cast<Tensor>(one));
  return gradients;
}

Op connecting(const Form& form) {
  const auto first_result = size_t(form.operands), results = size_t(form.results);
  return {.name = form.name,
          .summary = "results of a function of Python's, with its gradient",
          .dtypes = kEveryDType,
          .infer =
              [=](Specs inputs, const Attributes&) {
                const auto specs = inputs.subspan(first_result, results);
                return std::vector(specs.begin(), specs.end());
              },
          .gradient = [form](const GradientContext& context) { return gradient_of(form, context); },
          .saves = form.saves(),
          .not_differentiable = form.not_differentiable,
          .direct =
              [=](std::span<const Tensor> inputs, const Attributes&) {
                std::vector<Tensor> outputs;
                for (const Tensor& result : inputs.subspan(first_result, results))
                  outputs.push_back(result.detach());
                return outputs;
              }};
}

/// One op for each form, for ever: nodes and programs refer to it.
const Op& op_of(const Form& form) {
  static std::mutex mutex;
  static auto& ops = *new std::map<Form, Op>;
  const std::lock_guard lock(mutex);
  auto found = ops.find(form);
  return found != ops.end() ? found->second : ops.emplace(form, connecting(form)).first->second;
}

std::vector<Tensor> connect(nb::object context, const std::string& name, const std::vector<Tensor>& operands,
                            const std::vector<Tensor>& results, const std::vector<Tensor>& saved,
                            const std::vector<int>& not_differentiable) {
  Form form{name, int(operands.size()), int(results.size()), {}, not_differentiable};
  std::vector<Tensor> all = operands;
  all.insert(all.end(), results.begin(), results.end());
  const auto is = [](const Tensor& tensor) {
    return [&](const Tensor& other) { return other.same_as(tensor); };
  };
  for (const Tensor& one : saved) {
    const auto place = std::find_if(results.begin(), results.end(), is(one));
    const bool is_operand = std::any_of(operands.begin(), operands.end(), is(one));
    if (!is_operand && place != results.end()) {
      form.saved.push_back(int(place - results.begin()));
    } else {
      form.saved.push_back(-1);
      all.push_back(one);
    }
  }
  // The context of the call, which nodes and recorded steps keep.
  const Attributes attributes = Attributes::of(HeldObject(std::move(context)));
  nb::gil_scoped_release released;
  return apply(op_of(form), std::move(all), attributes);
}

}  // namespace

void bind_function(nb::module_& m) {
  m.def("_connect", connect, nb::arg("context"), nb::arg("name"), nb::arg("operands"), nb::arg("results"),
        nb::arg("saved"), nb::arg("not_differentiable"));
}

}  // namespace treadle::python
