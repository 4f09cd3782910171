/// Automatic differentiation: modes, and gradients as values.
#include <nanobind/stl/optional.h>

#include <optional>

#include "python/bindings/arguments.h"
#include "python/bindings/rooms.h"
#include "treadle/graph/autograd.h"

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
           [](nb::object self) {
             nb::cast<Kind&>(self).enter();
             return self;
           })
      .def("__exit__", [](Kind& self, nb::args) {
        self.leave();
        return false;
      });
}

std::vector<nb::object> gradients(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                                  std::vector<Tensor> upstream, bool create_graph, bool retain_graph,
                                  bool allow_unused) {
  std::vector<Tensor> found;
  {
    nb::gil_scoped_release released;
    found = grad(outputs, inputs,
                 {.upstream = std::move(upstream),
                  .create_graph = create_graph,
                  .retain_graph = retain_graph,
                  .allow_unused = allow_unused});
  }
  std::vector<nb::object> list;
  for (const Tensor& one : found) list.push_back(one.defined() ? nb::cast(one) : nb::none());
  return list;
}

}  // namespace

void bind_autograd(nb::module_& m) {
  bind_scope<NoGrad>(m, "NoGrad", "While one is entered, ops of this thread leave nothing for gradients.");
  bind_scope<EnableGrad>(m, "EnableGrad", "While one is entered, ops of this thread are differentiated.");
  m.def("is_grad_enabled", gradient_mode, "Whether ops of this thread are differentiated.");
  m.def("grad", gradients, nb::arg("outputs"), nb::arg("inputs"),
        nb::arg("grad_outputs") = std::vector<Tensor>(), nb::arg("create_graph") = false,
        nb::arg("retain_graph") = false, nb::arg("allow_unused") = false,
        "The gradients of the outputs with respect to the inputs, as a list; no tensor's grad changes.");
}

}  // namespace treadle::python
