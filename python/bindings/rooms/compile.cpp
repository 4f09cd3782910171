/// compile(): Python functions of tensors, recorded once for each kind of input and replayed as programs.
#include "treadle/compile/compile.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>

#include <array>
#include <map>

#include "python/bindings/arguments.h"
#include "python/bindings/rooms.h"
#include "treadle/core/error.h"

namespace treadle::python {
namespace {

/// What a function returned, with the tensors taken out: how to make the same of other tensors.
enum class Result : uint8_t { unknown, nothing, tensor, tuple, nested };

/// The compiled form of a function of Python's.
class CompiledCallable {
 public:
  CompiledCallable(nb::object function, const CompileOptions& options)
      : function_(std::move(function)),
        compiled_([this](std::span<const Tensor> arguments) { return record(arguments); }, options) {}
  CompiledCallable(const CompiledCallable&) = delete;
  CompiledCallable& operator=(const CompiledCallable&) = delete;

  nb::object call(const nb::args& arguments) {
    std::vector<Tensor> inputs;
    inputs.reserve(arguments.size());
    for (nb::handle argument : arguments) inputs.push_back(*nb::inst_ptr<Tensor>(argument));
    std::vector<Tensor> results;
    {
      nb::gil_scoped_release released;
      results = compiled_(inputs);
    }
    return made_of(results);
  }

  const nb::object& function() const { return function_; }
  CompiledFunction& compiled() { return compiled_; }
  void clear() { function_.reset(); }

 private:
  /// Runs the function while it is recorded, on symbolic tensors.
  std::vector<Tensor> record(std::span<const Tensor> arguments) {
    nb::gil_scoped_acquire acquired;
    nb::list inputs;
    for (const Tensor& argument : arguments) inputs.append(argument);
    nb::object returned = function_(*inputs);
    std::vector<Tensor> tensors;
    note(returned, tensors);
    return tensors;
  }

  /// Takes the tensors out of what was returned, whose form must stay the same.
  void note(const nb::object& returned, std::vector<Tensor>& tensors) {
    Result form = Result::nested;
    nb::object pattern = nb::none();
    if (returned.is_none()) {
      form = Result::nothing;
    } else if (nb::isinstance<Tensor>(returned)) {
      form = Result::tensor;
      tensors.push_back(nb::cast<Tensor>(returned));
    } else {
      const nb::tuple taken =
          nb::cast<nb::tuple>(nb::module_::import_("treadle._structure").attr("take_apart")(returned));
      for (nb::handle tensor : nb::cast<nb::list>(taken[0])) tensors.push_back(nb::cast<Tensor>(tensor));
      pattern = taken[1];
      if (nb::isinstance<nb::int_>(pattern)) form = Result::tuple;
    }
    if (form_ != Result::unknown && (form != form_ || !pattern.equal(pattern_)))
      throw RecordingError(
          "a compiled function returns results of one form: it returned others before, for other arguments");
    form_ = form;
    pattern_ = pattern;
  }

  nb::object made_of(const std::vector<Tensor>& tensors) const {
    switch (form_) {
      case Result::nothing:
        return nb::none();
      case Result::tensor:
        return nb::cast(tensors[0]);
      case Result::tuple: {
        nb::object result = nb::steal(PyTuple_New(Py_ssize_t(tensors.size())));
        for (size_t i = 0; i < tensors.size(); ++i)
          PyTuple_SetItem(result.ptr(), Py_ssize_t(i), nb::cast(tensors[i]).release().ptr());
        return result;
      }
      default:
        return nb::module_::import_("treadle._structure").attr("put_together")(nb::cast(tensors), pattern_);
    }
  }

  nb::object function_;
  Result form_ = Result::unknown;
  nb::object pattern_ = nb::none();
  CompiledFunction compiled_;
};

/// Numbers, strings, objects and keywords are constants of a program: each combination has a function of its
/// own.
nb::object call(nb::handle self, const nb::args& arguments, const nb::kwargs& options) {
  bool plain = options.size() == 0;
  for (nb::handle argument : arguments) plain = plain && nb::isinstance<Tensor>(argument);
  if (plain) return nb::inst_ptr<CompiledCallable>(self)->call(arguments);
  return nb::module_::import_("treadle._compile").attr("call_with_constants")(self, arguments, options);
}

CompileOptions::Graph graph_called(const std::string& name) {
  const std::map<std::string, CompileOptions::Graph> known = {{"automatic", CompileOptions::Graph::automatic},
                                                              {"never", CompileOptions::Graph::never},
                                                              {"always", CompileOptions::Graph::always}};
  const auto found = known.find(name);
  require<ValueError>(found != known.end(), "graph: '{}' is none of automatic, never and always", name);
  return found->second;
}

int visit(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<CompiledCallable>(self)->function().ptr());
  return 0;
}

int clear(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<CompiledCallable>(self)->clear();
  return 0;
}

PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(visit)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {0, nullptr}};

}  // namespace

void bind_compile(nb::module_& m) {
  nb::class_<ProgramReport>(m, "ProgramReport", "What a program of a compiled function has cost and holds.")
      .def_ro("signature", &ProgramReport::signature,
              "Dtypes and shapes of the arguments: \"f32 [32, 1, 28, 28], i64 [32]\".")
      .def_ro("memory_bytes", &ProgramReport::memory_bytes, "Arena, scratch and outputs of one instance.")
      .def_ro(
          "threads", &ProgramReport::threads,
          "The threads that the latest call was spread over: all, or as few as were measured to be faster.")
      .def_ro("calls", &ProgramReport::calls, "How often it ran.")
      .def(
          "__str__",
          [](const ProgramReport& self) { return self.program ? self.program->to_string() : self.signature; })
      .def("__repr__", [](const ProgramReport& self) {
        return fmt::format("ProgramReport('{}', {} bytes, {} calls)", self.signature, self.memory_bytes,
                           self.calls);
      });
  nb::class_<CompiledCallable>(m, "CompiledFunction", nb::is_weak_referenceable(), nb::type_slots(slots),
                               "The compiled form of a Python function of tensors; see treadle.compile().")
      .def(
          "__init__",
          [](CompiledCallable* self, nb::object function, bool measure, bool fuse, const std::string& graph,
             const std::vector<int64_t>& batch_buckets, size_t most_programs) {
            new (self) CompiledCallable(std::move(function), {.measure = measure,
                                                              .fuse = fuse,
                                                              .graph = graph_called(graph),
                                                              .batch_buckets = batch_buckets,
                                                              .most_programs = most_programs});
          },
          nb::arg("function"), nb::arg("measure") = true, nb::arg("fuse") = true,
          nb::arg("graph") = "automatic", nb::arg("batch_buckets") = std::vector<int64_t>(),
          nb::arg("most_programs") = size_t(64))
      .def("__call__", call, nb::arg("arguments"), nb::arg("constants"))
      .def_prop_ro(
          "function", [](const CompiledCallable& self) { return self.function(); }, "What it was made of.")
      .def(
          "programs", [](CompiledCallable& self) { return self.compiled().programs(); },
          "A report of each program, the latest used last; str() of one shows its steps.")
      .def(
          "time_steps",
          [](CompiledCallable& self, const nb::args& arguments, int replays) {
            std::vector<Tensor> inputs;
            for (nb::handle argument : arguments) inputs.push_back(nb::cast<Tensor>(argument));
            nb::gil_scoped_release released;
            return self.compiled().time_steps(inputs, replays).seconds;
          },
          nb::arg("arguments"), nb::arg("replays") = 20,
          "Seconds of each step of the program for these arguments, best of several replays, which change "
          "captured tensors as "
          "calls do.");
}

}  // namespace treadle::python
