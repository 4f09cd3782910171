/// Element types: one object for each, which NumPy's names and dtypes stand for, too.
#include "python/bindings/arguments.h"
#include "python/bindings/rooms.h"

namespace treadle::python {
namespace {

/// NumPy's name; bf16 has none there.
const char* numpy_name(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "float32";
    case DType::f64:
      return "float64";
    case DType::f16:
      return "float16";
    case DType::bf16:
      return "bfloat16";
    case DType::i8:
      return "int8";
    case DType::u8:
      return "uint8";
    case DType::i16:
      return "int16";
    case DType::i32:
      return "int32";
    case DType::i64:
      return "int64";
    case DType::boolean:
      break;
  }
  return "bool";
}

/// Objects of the module: they live as long as it does.
PyObject* objects[kDTypeCount];

bool has_name(std::string_view name, DType& found) {
  for (DType dtype : kAllDTypes)
    if (name == name_of(dtype) || name == numpy_name(dtype)) return found = dtype, true;
  return false;
}

/// A number is weaker than a tensor of rank 0, and that than another tensor.
TypedOperand typed(nb::handle operand) {
  if (nb::isinstance<Tensor>(operand)) {
    const Tensor& x = *nb::inst_ptr<Tensor>(operand);
    return {x.dtype(), x.rank() == 0 ? OperandKind::rank0 : OperandKind::tensor};
  }
  DType dtype;
  if (PyBool_Check(operand.ptr())) return {DType::boolean, OperandKind::number};
  if (PyFloat_Check(operand.ptr())) return {DType::f32, OperandKind::number};
  if (PyLong_Check(operand.ptr())) return {DType::i64, OperandKind::number};
  if (read_dtype(operand, dtype)) return {dtype, OperandKind::tensor};
  Scalar number = 0;
  if (!read_scalar(operand, number))
    throw nb::type_error("result_type: tensors, dtypes and numbers are expected");
  return {PyIndex_Check(operand.ptr()) ? DType::i64 : DType::f32, OperandKind::number};
}

DType result_type_of(const nb::args& operands) {
  if (operands.size() == 0) throw nb::type_error("result_type: an operand is expected");
  // bool is the weakest of each kind, so it stands where there is none.
  TypedOperand of_kind[] = {{DType::boolean, OperandKind::number},
                            {DType::boolean, OperandKind::rank0},
                            {DType::boolean, OperandKind::tensor}};
  for (nb::handle operand : operands) {
    const TypedOperand next = typed(operand);
    DType& dtype = of_kind[int(next.kind)].dtype;
    dtype = promote(dtype, next.dtype);
  }
  return result_type({of_kind[0], of_kind[1], of_kind[2]});
}

}  // namespace

nb::object dtype_object(DType dtype) noexcept { return nb::borrow(objects[int(dtype)]); }

bool read_dtype(nb::handle source, DType& dtype) noexcept {
  if (nb::isinstance<DTypeName>(source)) return dtype = nb::inst_ptr<DTypeName>(source)->dtype, true;
  if (PyUnicode_Check(source.ptr())) {
    const char* name = PyUnicode_AsUTF8AndSize(source.ptr(), nullptr);
    return name && has_name(name, dtype);
  }
  if (source.ptr() == reinterpret_cast<PyObject*>(&PyFloat_Type)) return dtype = DType::f32, true;
  if (source.ptr() == reinterpret_cast<PyObject*>(&PyLong_Type)) return dtype = DType::i64, true;
  if (source.ptr() == reinterpret_cast<PyObject*>(&PyBool_Type)) return dtype = DType::boolean, true;
  // numpy.float32 has __name__, numpy.dtype("float32") has name.
  for (const char* attribute : {"name", "__name__"}) {
    nb::object name = nb::steal(PyObject_GetAttrString(source.ptr(), attribute));
    if (!name) {
      PyErr_Clear();
      continue;
    }
    if (!PyUnicode_Check(name.ptr())) continue;
    const char* text = PyUnicode_AsUTF8AndSize(name.ptr(), nullptr);
    if (text && has_name(text, dtype)) return true;
  }
  PyErr_Clear();
  return false;
}

void bind_dtypes(nb::module_& m) {
  nb::class_<DTypeName>(m, "DType", "The type of a tensor's elements.")
      .def_prop_ro(
          "name", [](const DTypeName& self) { return numpy_name(self.dtype); }, "NumPy's name.")
      .def_prop_ro(
          "itemsize", [](const DTypeName& self) { return size_of(self.dtype); }, "Bytes of an element.")
      .def_prop_ro(
          "is_floating_point", [](const DTypeName& self) { return is_floating(self.dtype); },
          "Whether elements are floating-point numbers, which can have gradients.")
      .def("__repr__", [](const DTypeName& self) { return std::string("treadle.") + numpy_name(self.dtype); })
      .def("__hash__", [](const DTypeName& self) { return int(self.dtype); })
      .def("__eq__",
           [](const DTypeName& self, nb::handle other) {
             DType dtype;
             return read_dtype(other, dtype) && dtype == self.dtype;
           })
      // The name in the module treadle, where pickle finds the same object again.
      .def("__reduce__", [](const DTypeName& self) { return numpy_name(self.dtype); });
  for (DType dtype : kAllDTypes) {
    nb::object object = nb::cast(DTypeName{dtype});
    objects[int(dtype)] = object.ptr();
    m.attr(numpy_name(dtype)) = object;
  }
  m.def(
      "dtype", [](DType dtype) { return dtype; }, nb::arg("dtype"),
      "The dtype of a name (\"float32\" or \"f32\"), of a NumPy dtype, or of float, int and bool.");
  m.def(
      "promote_types", [](DType a, DType b) { return promote(a, b); }, nb::arg("a"), nb::arg("b"),
      "What operands of two dtypes are computed in.");
  m.def("result_type", result_type_of, nb::arg("operands"),
        "What tensors, dtypes and numbers are computed in together, as in PyTorch: a number counts only "
        "where its category (bool, integer, floating) is higher, and a tensor of rank 0 less than others.");
}

}  // namespace treadle::python
