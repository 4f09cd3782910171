#include "python/bindings/arguments.h"

#include <fmt/core.h>

namespace treadle::python {

bool read_scalar(nb::handle source, Scalar& scalar) noexcept {
  PyObject* const object = source.ptr();
  if (PyBool_Check(object)) {
    scalar = object == Py_True;
    return true;
  }
  if (PyFloat_Check(object)) {
    scalar = PyFloat_AsDouble(object);
    return true;
  }
  if (PyIndex_Check(object)) {
    nb::object index = nb::steal(PyNumber_Index(object));
    const long long value = index ? PyLong_AsLongLong(index.ptr()) : -1;
    if (PyErr_Occurred()) return PyErr_Clear(), false;
    scalar = int64_t(value);
    return true;
  }
  // NumPy's numbers of other precisions; not tensors and arrays of one element.
  if (PyNumber_Check(object) && !PySequence_Check(object) && !nb::isinstance<Tensor>(source)) {
    const double value = PyFloat_AsDouble(object);
    if (PyErr_Occurred()) return PyErr_Clear(), false;
    scalar = value;
    return true;
  }
  return false;
}

bool read_array(nb::handle source, Tensor& array) noexcept {
  if (!nb::hasattr(source, "__array_interface__")) return false;
  try {
    const nb::object made = nb::module_::import_("treadle._arrays").attr("asarray")(source);
    return nb::try_cast(made, array);
  } catch (const std::exception&) {
    return false;  // an array of what tensors do not hold
  }
}

bool read_dims(nb::handle source, Dims& dims) noexcept {
  dims = {};
  auto append = [&](PyObject* entry) {
    nb::object index = nb::steal(PyNumber_Index(entry));
    const long long value = index ? PyLong_AsLongLong(index.ptr()) : -1;
    if (PyErr_Occurred()) return PyErr_Clear(), false;
    if (dims.rank() == kMaxRank) return false;
    dims.push_back(value);
    return true;
  };
  if (PyIndex_Check(source.ptr())) return append(source.ptr());
  if (!PyTuple_Check(source.ptr()) && !PyList_Check(source.ptr())) return false;
  const Py_ssize_t size = PySequence_Size(source.ptr());
  for (Py_ssize_t i = 0; i < size; ++i) {
    nb::object entry = nb::steal(PySequence_GetItem(source.ptr(), i));
    if (!entry || !append(entry.ptr())) return PyErr_Clear(), false;
  }
  return true;
}

bool read_pair(nb::handle source, Pair& pair) noexcept {
  Dims numbers;
  if (!read_dims(source, numbers) || numbers.rank() < 1 || numbers.rank() > 2) return false;
  pair = {numbers[0], numbers[numbers.rank() - 1]};
  return true;
}

bool read_pads(nb::handle source, Pads& pads) noexcept {
  Dims numbers;
  if (!read_dims(source, numbers)) return false;
  switch (numbers.rank()) {
    case 1:
      return pads = numbers[0], true;
    case 2:
      return pads = Pair(numbers[0], numbers[1]), true;
    case 4:
      return pads = {numbers[0], numbers[1], numbers[2], numbers[3]}, true;
    default:
      return false;
  }
}

nb::object pair_object(const Pair& pair) {
  if (pair.height == pair.width) return nb::int_(pair.height);
  return nb::make_tuple(pair.height, pair.width);
}

nb::object pads_object(const Pads& pads) {
  if (pads == Pads(pads.top)) return nb::int_(pads.top);
  return nb::make_tuple(pads.top, pads.left, pads.bottom, pads.right);
}

bool read_device(nb::handle source, Device& device) {
  if (!PyUnicode_Check(source.ptr())) return false;
  device = device_named(nb::cast<std::string>(source));
  return true;
}

}  // namespace treadle::python
