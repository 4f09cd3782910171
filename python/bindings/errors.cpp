/// The library's exceptions as Python's: each derives from what Python raises for the same.
#include "python/bindings/rooms.h"
#include "treadle/core/error.h"
#include "treadle/data/dataset.h"

namespace nb = nanobind;

namespace treadle::python {
namespace {

/// `bases` of C++: those that derive are bound later, as the last translator is asked first.
template <class E>
void bind(nb::module_& m, const char* name, const char* documentation, nb::handle base, nb::handle builtin) {
  nb::object type = nb::steal(PyErr_NewExceptionWithDoc(
      (std::string("treadle.") + name).c_str(), documentation,
      builtin ? nb::make_tuple(base, builtin).ptr() : nb::make_tuple(base).ptr(), nullptr));
  if (!type) nb::raise_python_error();
  m.attr(name) = type;
  static PyObject* raised;
  raised = type.inc_ref().ptr();
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const E& error) {
      PyErr_SetString(raised, error.what());
    }
  });
}

}  // namespace

void bind_errors(nb::module_& m) {
  bind<Error>(m, "Error", "Base of every exception of the library.", PyExc_RuntimeError, {});
  const nb::object base = m.attr("Error");
  bind<ShapeError>(m, "ShapeError", "Shapes that do not fit together; the message names both.", base,
                   PyExc_ValueError);
  bind<DTypeError>(m, "DTypeError", "A dtype that an op does not take.", base, PyExc_TypeError);
  bind<DeviceError>(m, "DeviceError", "A device that fails, or tensors on two devices.", base, {});
  bind<DeviceAbsent>(m, "DeviceAbsent", "A device that is not there.", m.attr("DeviceError"), {});
  bind<FormatError>(m, "FormatError", "A file whose contents break its format.", base, PyExc_ValueError);
  bind<FileError>(m, "FileError", "A file that cannot be opened, read or written.", base, PyExc_OSError);
  bind<ValueError>(m, "ValueError", "A name or a value that does not exist or does not fit.", base,
                   PyExc_ValueError);
  bind<AutogradError>(m, "AutogradError", "Misuse of automatic differentiation.", base, {});
  bind<TrainingError>(m, "TrainingError", "Training that cannot go on.", base, {});
  bind<RecordingError>(m, "RecordingError",
                       "A function that cannot be compiled, or that changed after it was.", base, {});
  bind<DatasetAbsent>(m, "DatasetAbsent", "A data set that is not on this machine.", base,
                      PyExc_FileNotFoundError);
}

}  // namespace treadle::python
