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

Pair DimsArgument::pair() const {
  if (value.rank() == 1) return value[0];
  if (value.rank() == 2) return {value[0], value[1]};
  throw nb::type_error("one number for both axes is expected, or two");
}

bool read_device(nb::handle source, Device& device) {
  if (!PyUnicode_Check(source.ptr())) return false;
  device = device_named(nb::cast<std::string>(source));
  return true;
}

namespace {

OptionValue option_value(nb::handle value, const OptionField& field) {
  if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
  DType dtype;
  if (read_dtype(value, dtype)) return std::string(name_of(dtype));
  Scalar scalar = 0;
  if (read_scalar(value, scalar)) {
    if (scalar.dtype() == DType::boolean) return scalar.integer() != 0;
    if (std::holds_alternative<double>(field.default_value)) return scalar.to_double();
    if (std::holds_alternative<std::vector<int64_t>>(field.default_value) && scalar.dtype() == DType::i64)
      return std::vector<int64_t>(std::get<std::vector<int64_t>>(field.default_value).size(), scalar.integer());
    if (scalar.dtype() == DType::i64) return scalar.integer();
    return scalar.to_double();
  }
  Dims dims;
  if (read_dims(value, dims)) return std::vector<int64_t>(dims.begin(), dims.end());
  throw nb::type_error(fmt::format("option {}: a value of type {} is none", field.name,
                                   nb::type_name(value.type()).c_str())
                           .c_str());
}

}  // namespace

std::map<std::string, OptionValue> option_values(const nb::kwargs& options, const OptionsSchema& schema) {
  std::map<std::string, OptionValue> values;
  for (auto [name, value] : options) {
    const std::string key = nb::cast<std::string>(name);
    values[key] = option_value(value, schema.field(key));
  }
  return values;
}

std::string with_options(const char* documentation, const OptionsSchema& schema) {
  std::string text = documentation;
  text += "\n\nOptions:\n";
  for (const OptionField& field : schema.fields)
    text += fmt::format("    {} = {}: {}\n", field.name, to_string(field.default_value), field.documentation);
  return text;
}

}  // namespace treadle::python
