/// Python's functions where C++ calls them, from threads that do not hold the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

namespace treadle::python {

namespace nb = nanobind;

/// May be copied and dropped without the GIL.
class HeldObject {
 public:
  explicit HeldObject(nb::object object)
      : object_(object.release().ptr(), [](PyObject* held) {
          if (!nb::is_alive()) return;  // the interpreter has gone before
          nb::gil_scoped_acquire acquired;
          Py_DECREF(held);
        }) {}
  /// For whoever holds the GIL.
  nb::handle get() const { return object_.get(); }

 private:
  std::shared_ptr<PyObject> object_;
};

}  // namespace treadle::python
