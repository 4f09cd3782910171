/// What Python passes to functions of tensors, and how it becomes what C++ takes.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>
#include <vector>

#include "treadle/core/geometry.h"
#include "treadle/core/random.h"
#include "treadle/core/scalar.h"
#include "treadle/core/tensor.h"
#include "treadle/ops/pointwise/pointwise.h"

namespace treadle::python {

namespace nb = nanobind;

/// A Python number. bool, int and float keep their category, and so do NumPy's by __index__ and __float__.
struct ScalarArgument {
  Scalar value = 0;
};

/// A tensor, an array of NumPy's, over whose memory it lies where it can, or a number.
struct OperandArgument {
  const Tensor* tensor = nullptr;
  Tensor array;
  Scalar number = 0;

  Operand operand() const {
    return tensor ? Operand(*tensor) : array.defined() ? Operand(array) : Operand(number);
  }
};

/// An int, or a sequence of ints; none for None, where the argument may be None.
struct DimsArgument {
  Dims value;
};

/// One number for both spatial axes, or two.
struct PairArgument {
  Pair value;
};

/// One number for all sides, two for those of height and width, or four: top, left, bottom, right.
struct PadsArgument {
  Pads value;
};

inline const Tensor& or_undefined(const Tensor* tensor) {
  static const Tensor undefined;
  return tensor ? *tensor : undefined;
}

/// A tensor that may be undefined, which is None in Python. Whoever knows that it is there need not tell type
/// checkers.
class TensorOrNone : public nb::object {
  NB_OBJECT(TensorOrNone, nb::object, "Tensor | Any", is_one)
  static bool is_one(PyObject* object) { return object == Py_None || nb::isinstance<Tensor>(object); }
};
inline TensorOrNone tensor_or_none(const Tensor& tensor) {
  return nb::borrow<TensorOrNone>(tensor.defined() ? nb::cast(tensor) : nb::none());
}

/// What a method returns that returns its object, so that type checkers know it for what it is.
class SelfObject : public nb::object {
  NB_OBJECT(SelfObject, nb::object, "Self", is_one)
  SelfObject(const nb::object& self) : nb::object(self) {}
  static bool is_one(PyObject*) { return true; }
};

bool read_scalar(nb::handle source, Scalar& scalar) noexcept;
/// A tensor of an array of NumPy's, over its memory where that can be.
bool read_array(nb::handle source, Tensor& array) noexcept;
bool read_dims(nb::handle source, Dims& dims) noexcept;
bool read_pair(nb::handle source, Pair& pair) noexcept;
bool read_pads(nb::handle source, Pads& pads) noexcept;
nb::object pair_object(const Pair& pair);
nb::object pads_object(const Pads& pads);
bool read_dtype(nb::handle source, DType& dtype) noexcept;
/// Throws ValueError for a name that no device has.
bool read_device(nb::handle source, Device& device);

/// A dtype as Python has it: an object of the class DType, of which there is one for each.
struct DTypeName {
  DType dtype;
};
nb::object dtype_object(DType dtype) noexcept;

}  // namespace treadle::python

namespace nanobind::detail {

template <>
struct type_caster<treadle::python::ScalarArgument> {
  NB_TYPE_CASTER(treadle::python::ScalarArgument, const_name("float"))
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    return treadle::python::read_scalar(source, value.value);
  }
};

template <>
struct type_caster<treadle::python::OperandArgument> {
  NB_TYPE_CASTER(treadle::python::OperandArgument, const_name("Tensor | float"))
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    value = {};
    if (isinstance<treadle::Tensor>(source)) {
      value.tensor = inst_ptr<treadle::Tensor>(source);
      return true;
    }
    return treadle::python::read_scalar(source, value.number) ||
           treadle::python::read_array(source, value.array);
  }
};

template <>
struct type_caster<treadle::Dims> {
  NB_TYPE_CASTER(treadle::Dims, io_name("Sequence[int]", "tuple[int, ...]"))
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    return treadle::python::read_dims(source, value);
  }
  static handle from_cpp(const treadle::Dims& dims, rv_policy, cleanup_list*) noexcept {
    PyObject* result = PyTuple_New(dims.rank());
    if (!result) return {};
    for (int i = 0; i < dims.rank(); ++i) PyTuple_SetItem(result, i, PyLong_FromLongLong(dims[i]));
    return result;
  }
};

template <>
struct type_caster<treadle::python::DimsArgument> {
  NB_TYPE_CASTER(treadle::python::DimsArgument, const_name("int | Sequence[int]"))
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    value = {};
    return source.is_none() || treadle::python::read_dims(source, value.value);
  }
  static handle from_cpp(const treadle::python::DimsArgument& dims, rv_policy, cleanup_list*) noexcept {
    return make_caster<treadle::Dims>::from_cpp(dims.value, rv_policy::automatic, nullptr);
  }
};

template <>
struct type_caster<treadle::python::PairArgument> {
  NB_TYPE_CASTER(treadle::python::PairArgument, const_name("int | Sequence[int]"))
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    return treadle::python::read_pair(source, value.value);
  }
  static handle from_cpp(const treadle::python::PairArgument& pair, rv_policy, cleanup_list*) noexcept {
    return treadle::python::pair_object(pair.value).release();
  }
};

template <>
struct type_caster<treadle::python::PadsArgument> {
  NB_TYPE_CASTER(treadle::python::PadsArgument, const_name("int | Sequence[int]"))
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    return treadle::python::read_pads(source, value.value);
  }
  static handle from_cpp(const treadle::python::PadsArgument& pads, rv_policy, cleanup_list*) noexcept {
    return treadle::python::pads_object(pads.value).release();
  }
};

template <>
struct type_caster<treadle::DType> {
  NB_TYPE_CASTER(treadle::DType, io_name("DTypeLike", "DType"))
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    return treadle::python::read_dtype(source, value);
  }
  static handle from_cpp(treadle::DType dtype, rv_policy, cleanup_list*) noexcept {
    return treadle::python::dtype_object(dtype).release();
  }
};

template <>
struct type_caster<treadle::Device> {
  NB_TYPE_CASTER(treadle::Device, const_name("str"))
  bool from_python(handle source, uint32_t, cleanup_list*) {
    return treadle::python::read_device(source, value);
  }
  static handle from_cpp(treadle::Device device, rv_policy, cleanup_list*) noexcept {
    return str(treadle::to_string(device).c_str()).release();
  }
};

}  // namespace nanobind::detail
