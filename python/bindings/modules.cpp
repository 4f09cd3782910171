/// The class Module, which Python's classes derive from, and Sequential.
#include "python/bindings/modules.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>

#include "python/bindings/arguments.h"
#include "python/bindings/held_object.h"
#include "python/bindings/named_tensors.h"
#include "python/bindings/rooms.h"
#include "treadle/core/error.h"
#include "treadle/nn/sequential.h"
#include "treadle/nn/summary.h"

namespace treadle::python {
namespace {

/// Tensors that a function of Python's returned: one, or a sequence of them.
std::vector<Tensor> tensors_in(const nb::object& result, const Module& module) {
  Tensor* one = nullptr;
  if (nb::try_cast(result, one, false) && one) return {*one};
  std::vector<Tensor> several;
  if ((PyTuple_Check(result.ptr()) || PyList_Check(result.ptr())) && nb::try_cast(result, several))
    return several;
  throw nb::type_error(fmt::format("forward() of {} returned {}, where a tensor or several are expected",
                                   module.describe(), nb::type_name(result.type()).c_str())
                           .c_str());
}

nb::object as_object(const std::vector<Tensor>& tensors) {
  if (tensors.size() == 1) return nb::cast(tensors[0]);
  return nb::tuple(nb::cast(tensors));
}

}  // namespace

std::string PythonModule::describe() const {
  nb::gil_scoped_acquire acquired;
  const nb::object self = nb::find(static_cast<const Module*>(this));
  if (!self.is_valid()) return "Module";
  return nb::cast<std::string>(nb::str(self.attr("extra_repr")()));
}

std::vector<Tensor> PythonModule::forward_all(std::span<const Tensor> inputs) {
  nb::gil_scoped_acquire acquired;
  nb::object* const wanted = std::exchange(result_, nullptr);
  const nb::object self = nb::find(static_cast<const Module*>(this));
  require<Error>(self.is_valid(), "a module of Python's is called after its object is gone");
  nb::list arguments;
  for (const Tensor& input : inputs) arguments.append(input);
  nb::object result = self.attr("forward")(*arguments);
  if (wanted) {
    *wanted = result;
    Tensor* one = nullptr;
    std::vector<Tensor> several;
    if (nb::try_cast(result, one, false) && one) return {*one};
    return nb::try_cast(result, several) ? several : std::vector<Tensor>();
  }
  return tensors_in(result, *this);
}

Tensor PythonModule::forward(const Tensor& x) {
  const std::vector<Tensor> outputs = forward_all({&x, 1});
  require<ValueError>(outputs.size() == 1, "{} gives {} tensors, not one", describe(), outputs.size());
  return outputs[0];
}

nb::object PythonModule::call_from_python(const std::vector<Tensor>& inputs) {
  nb::object result;
  result_ = &result;
  try {
    call(inputs);
  } catch (...) {
    result_ = nullptr;  // forward() was perhaps not reached
    throw;
  }
  return result;
}

void keep_arguments(Module& module, std::initializer_list<std::pair<const char*, nb::object>> arguments) {
  nb::dict kept;
  for (const auto& [name, value] : arguments) kept[name] = value;
  module.keep(std::shared_ptr<PyObject>(kept.release().ptr(), let_go));
}

namespace {

/// What the constructor of a layer of the library was called with; None for those that C++ made.
nb::object arguments_of(const Module& module) {
  const auto kept = std::static_pointer_cast<PyObject>(module.kept());
  return kept ? nb::borrow(kept.get()) : nb::none();
}

PythonModule& own(Module& module) {
  auto* found = dynamic_cast<PythonModule*>(&module);
  if (!found)
    throw nb::type_error(
        fmt::format("{} is a layer of the library, which takes no further parts: derive from Module",
                    module.describe())
            .c_str());
  return *found;
}

/// Whether the module's class is Python's, which has attributes.
bool is_python(nb::handle self) {
  if (!nb::inst_ready(self))
    throw nb::type_error("super().__init__() comes before the first part of a module");
  return dynamic_cast<PythonModule*>(nb::inst_ptr<Module>(self)) != nullptr;
}

/// self(*inputs). Whatever else than tensors is passed goes to a Python forward() as it is.
nb::object call_module(nb::handle self, const nb::args& arguments, const nb::kwargs& options) {
  Module& module = nb::cast<Module&>(self);
  auto* python = dynamic_cast<PythonModule*>(&module);
  std::vector<Tensor> inputs;
  inputs.reserve(arguments.size());
  bool plain = options.size() == 0;
  for (nb::handle argument : arguments) {
    if (!nb::isinstance<Tensor>(argument)) {
      plain = false;
      break;
    }
    inputs.push_back(*nb::inst_ptr<Tensor>(argument));
  }
  if (python) return plain ? python->call_from_python(inputs) : self.attr("forward")(*arguments, **options);
  if (!plain) throw nb::type_error(fmt::format("{} takes tensors alone", module.describe()).c_str());
  nb::gil_scoped_release released;
  if (inputs.size() == 1) {
    const Tensor y = module(inputs[0]);
    nb::gil_scoped_acquire acquired;
    return nb::cast(y);
  }
  const std::vector<Tensor> outputs = module.call(inputs);
  nb::gil_scoped_acquire acquired;
  return as_object(outputs);
}

std::vector<std::pair<std::string, Tensor>> pairs(const std::vector<NamedTensor>& tensors) {
  std::vector<std::pair<std::string, Tensor>> list;
  for (const NamedTensor& one : tensors) list.emplace_back(one.name, one.tensor);
  return list;
}

using State = nb::typed<nb::dict, nb::str, Tensor>;

State state_of(const Module& module) { return State(dict_of(module.state_dict())); }

void load(Module& module, const State& state) {
  const std::vector<NamedTensor> values = tensors_of(state);
  nb::gil_scoped_release released;
  module.load_state_dict(values);
}

void move(Module& module, nb::handle where) {
  DType dtype;
  Device device;
  if (read_dtype(where, dtype)) {
    nb::gil_scoped_release released;
    module.to(dtype);
  } else if (read_device(where, device)) {
    nb::gil_scoped_release released;
    module.to(device);
  } else {
    throw nb::type_error("a device or a dtype is expected");
  }
}

/// Children that hold their Python objects: the collector of cycles follows them.
int visit_children(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  for (const auto& [name, child] : nb::inst_ptr<Module>(self)->children())
    if (auto* held = std::get_deleter<nb::detail::py_deleter>(child)) Py_VISIT(held->o);
  return 0;
}

PyType_Slot module_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(visit_children)}, {0, nullptr}};

void bind_sequential(nb::module_& m) {
  nb::class_<Sequential, Module>(
      m, "Sequential", "Layers one after another. What one gives, one tensor or several, the next one takes.")
      .def(
          "__init__",
          [](Sequential* self, const nb::args& layers) {
            std::vector<std::pair<std::string, std::shared_ptr<Module>>> named;
            if (layers.size() == 1 && PyDict_Check(nb::handle(layers[0]).ptr()))
              for (auto [name, layer] : nb::cast<nb::dict>(layers[0]))
                named.emplace_back(nb::cast<std::string>(name), nb::cast<std::shared_ptr<Module>>(layer));
            else
              for (nb::handle layer : layers)
                named.emplace_back(std::to_string(named.size()), nb::cast<std::shared_ptr<Module>>(layer));
            new (self) Sequential(std::move(named));
          },
          nb::arg("layers"), "Layers in order, called \"0\", \"1\", …, or a dict of layers by their names.")
      .def("__len__", [](const Sequential& self) { return self.children().size(); })
      .def("__getitem__", [](const Sequential& self, int64_t index) {
        const int64_t count = int64_t(self.children().size());
        if (index < -count || index >= count)
          throw nb::index_error(fmt::format("layer {} of {}", index, count).c_str());
        return self.children()[size_t(index < 0 ? index + count : index)].second;
      });
}

void bind_summary(nb::module_& m) {
  nb::class_<LayerSummary>(m, "LayerSummary", "What a layer made of its inputs.")
      .def_ro("name", &LayerSummary::name, "The name under its parent; empty for the model itself.")
      .def_ro("description", &LayerSummary::description, "Type and options.")
      .def_ro("depth", &LayerSummary::depth, "0 for the model itself.")
      .def_ro("inputs", &LayerSummary::inputs, "Shapes.")
      .def_ro("outputs", &LayerSummary::outputs, "Shapes.")
      .def_ro("parameters", &LayerSummary::parameters, "Numbers that are trained, children included.")
      .def_ro("multiply_adds", &LayerSummary::multiply_adds, "Of this call.");
  nb::class_<ModelSummary>(
      m, "ModelSummary", "Each layer with its output shape, parameters and multiply-adds; str() is a table.")
      .def_ro("layers", &ModelSummary::layers, "In order of execution, parents before children.")
      .def_ro("parameters", &ModelSummary::parameters, "Numbers that are trained.")
      .def_ro("multiply_adds", &ModelSummary::multiply_adds, "Of this call.")
      .def_ro("input_bytes", &ModelSummary::input_bytes, "Of the inputs.")
      .def_ro("activation_bytes", &ModelSummary::activation_bytes, "Of all layers' outputs.")
      .def_ro("parameter_bytes", &ModelSummary::parameter_bytes, "Of the parameters.");
  m.def(
      "_summarize",
      [](Module& model, const std::vector<Tensor>& inputs) {
        nb::gil_scoped_release released;
        return summarize(model, inputs);
      },
      nb::arg("model"), nb::arg("inputs"));
}

}  // namespace

void bind_modules(nb::module_& m) {
  nb::class_<Module, PythonModule>(m, "Module", nb::is_weak_referenceable(), nb::type_slots(module_slots),
                                   "A layer or network with named parameters, buffers and children.")
      .def(nb::init<>())
      .def("__call__", call_module, nb::arg("inputs"), nb::arg("options"),
           "What forward() makes of the inputs. Modules of the library take tensors alone.")
      .def(
          "forward",
          [](nb::handle self, const nb::args& inputs) { return call_module(self, inputs, nb::kwargs()); },
          nb::sig("def forward(self, *inputs: Any, **options: Any) -> Any"),
          "What the module computes; classes that derive from Module define it. To compute, call the module.")
      .def(
          "named_parameters", [](const Module& self) { return pairs(self.named_parameters()); },
          "Pairs of name and tensor, of this module and its children, each tensor once.")
      .def("parameters", &Module::parameters, "The tensors that are trained, each once.")
      .def(
          "named_buffers", [](const Module& self) { return pairs(self.named_buffers()); },
          "Pairs of name and tensor: state that is saved but not trained.")
      .def(
          "named_children", [](const Module& self) { return self.children(); }, "Pairs of name and module.")
      .def("state_dict", state_of,
           "Parameters, then buffers, by name. The tensors share the module's memory.")
      .def("load_state_dict", load, nb::arg("state"),
           "Copies values of the same names and shapes. Raises ShapeError naming both shapes, ValueError for "
           "names that are missing or too many; then nothing was changed.")
      .def("parameter_count", &Module::parameter_count, "How many numbers are trained.")
      .def(
          "train",
          [](nb::object self, bool on) -> SelfObject {
            nb::cast<Module&>(self).train(on);
            return self;
          },
          nb::arg("on") = true,
          "Training mode (dropout, batch statistics), children included; returns the module.")
      .def(
          "eval",
          [](nb::object self) -> SelfObject {
            nb::cast<Module&>(self).eval();
            return self;
          },
          "Evaluation mode, children included; returns the module.")
      .def_prop_ro("training", &Module::is_training, "Whether it is in training mode.")
      .def(
          "to",
          [](nb::object self, nb::handle where) -> SelfObject {
            move(nb::cast<Module&>(self), where);
            return self;
          },
          nb::arg("where"),
          "Moves parameters and buffers to a device, or converts those of floating-point numbers to a "
          "dtype, and drops gradients; returns the module.")
      .def("zero_grad", &Module::zero_grad, "Drops the gradients of all parameters.")
      .def("describe", &Module::describe, "Type and options, as in \"Conv2d(1, 64, kernel 3×3)\".")
      .def("_arguments", arguments_of)
      .def("_set_parameter", [](Module& self, const std::string& name,
                                const Tensor& value) { own(self).replace_parameter(name, value); })
      .def("_set_buffer", [](Module& self, const std::string& name,
                             const Tensor& value) { own(self).replace_buffer(name, value); })
      .def("_set_module",
           [](Module& self, const std::string& name, std::shared_ptr<Module> value) {
             own(self).replace_module(name, std::move(value));
           })
      .def("_remove", [](Module& self, const std::string& name) { return own(self).remove(name); })
      .def("_own_tensors", [](const Module& self) {
        nb::dict found;
        for (const auto& list : {self.named_parameters(), self.named_buffers()})
          for (const NamedTensor& one : list)
            if (one.name.find('.') == std::string::npos) found[one.name.c_str()] = one.tensor;
        return found;
      });
  m.def("_is_python", is_python);
  bind_sequential(m);
  bind_summary(m);
}

}  // namespace treadle::python
