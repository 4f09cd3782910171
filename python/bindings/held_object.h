/// Python's objects where C++ keeps them, on threads that do not hold the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <memory>

namespace treadle::python {

namespace nb = nanobind;

/// Gives a reference back, with or without the GIL.
inline void let_go(PyObject* held) {
  if (!nb::is_alive()) return;  // the interpreter has gone before
  nb::gil_scoped_acquire acquired;
  Py_DECREF(held);
}

/// May be copied and dropped without the GIL.
class HeldObject {
 public:
  explicit HeldObject(nb::object object) : object_(object.release().ptr(), let_go) {}
  /// For whoever holds the GIL.
  nb::handle get() const { return object_.get(); }

 private:
  std::shared_ptr<PyObject> object_;
};

/// Keeps the owner of a tensor's memory until that is called, as Tensor::over() does when the last tensor
/// over it is gone.
inline std::function<void()> keeping(nb::object owner) {
  return [held = owner.release().ptr()] { let_go(held); };
}

}  // namespace treadle::python
