/// Automatic differentiation: modes, and gradients as values.
#include <nanobind/stl/optional.h>

#include <optional>

#include "python/bindings/arguments.h"
#include "python/bindings/rooms.h"
#include "treadle/graph/autograd.h"

namespace treadle::python {
namespace {

/// A tensor, or a sequence of them.
struct TensorsArgument {
  std::vector<Tensor> tensors;
};

}  // namespace
}  // namespace treadle::python

namespace nanobind::detail {

template <>
struct type_caster<treadle::python::TensorsArgument> {
  NB_TYPE_CASTER(treadle::python::TensorsArgument, const_name("Tensor | Sequence[Tensor]"))
  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    if (isinstance<treadle::Tensor>(source)) {
      value.tensors = {*inst_ptr<treadle::Tensor>(source)};
      return true;
    }
    make_caster<std::vector<treadle::Tensor>> list;
    if (!list.from_python(source, flags, cleanup)) return false;
    value.tensors = std::move(list.value);
    return true;
  }
};

}  // namespace nanobind::detail

namespace treadle::python {
namespace {

/// A scope of C++ as a context manager, which may be entered again, in itself, too.
template <class Scope>
class Manager {
 public:
  Manager() = default;
  Manager(const Manager&) = delete;
  void enter() { scopes_.push_back(std::make_unique<Scope>()); }
  void leave() { scopes_.pop_back(); }

 private:
  std::vector<std::unique_ptr<Scope>> scopes_;
};

template <class Scope>
void bind_scope(nb::module_& m, const char* name, const char* documentation) {
  using Kind = Manager<Scope>;
  nb::class_<Kind>(m, name, documentation)
      .def(nb::init<>())
      .def("__enter__",
           [](nb::object self) -> SelfObject {
             nb::cast<Kind&>(self).enter();
             return self;
           })
      .def("__exit__", [](Kind& self, nb::args) {
        self.leave();
        return false;
      });
}

/// Where there is no gradient the list has None, which whoever allows it expects.
nb::typed<nb::list, Tensor> gradients(const TensorsArgument& outputs, const TensorsArgument& inputs,
                                      std::optional<TensorsArgument> upstream, bool create_graph,
                                      bool retain_graph, bool allow_unused) {
  GradOptions options{
      .create_graph = create_graph, .retain_graph = retain_graph, .allow_unused = allow_unused};
  if (upstream) options.upstream = std::move(upstream->tensors);
  std::vector<Tensor> found;
  {
    nb::gil_scoped_release released;
    found = grad(outputs.tensors, inputs.tensors, options);
  }
  nb::list list;
  for (const Tensor& one : found) list.append(tensor_or_none(one));
  return nb::typed<nb::list, Tensor>(std::move(list));
}

}  // namespace

void bind_autograd(nb::module_& m) {
  bind_scope<NoGrad>(m, "NoGrad", "While one is entered, ops of this thread leave nothing for gradients.");
  bind_scope<EnableGrad>(m, "EnableGrad", "While one is entered, ops of this thread are differentiated.");
  m.def("is_grad_enabled", gradient_mode, "Whether ops of this thread are differentiated.");
  m.def("grad", gradients, nb::arg("outputs"), nb::arg("inputs"), nb::arg("grad_outputs").none() = nb::none(),
        nb::arg("create_graph") = false, nb::arg("retain_graph") = false, nb::arg("allow_unused") = false,
        "The gradients of the outputs with respect to the inputs, as a list; no tensor's grad changes.\n\n"
        "Parameters:\n"
        "    outputs: of one element each, unless grad_outputs says what flows into each\n"
        "    inputs: tensors that the outputs were computed from, leaves or not\n"
        "    grad_outputs: gradients of the outputs, of their shapes and dtypes; ones where it is None\n"
        "    create_graph: whether the gradients can be differentiated again\n"
        "    retain_graph: whether the graph can be gone through again; it can where create_graph is set\n"
        "    allow_unused: whether an input that no output depends on has None, instead of being refused\n\n"
        "Raises AutogradError for an output or input that requires no gradient, for an input that is not "
        "used, for a graph that was freed; ShapeError, DTypeError and DeviceError for a gradient that does "
        "not fit its output.");
}

}  // namespace treadle::python
