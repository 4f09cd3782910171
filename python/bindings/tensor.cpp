/// The class Tensor: what it is, its operators, views by indices, and its memory as arrays of others.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>

#include "python/bindings/arguments.h"
#include "python/bindings/rooms.h"
#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/matrix/matmul.h"

namespace treadle::python {
namespace {

// --- memory of others ---

nb::dlpack::dtype dlpack_dtype(DType dtype) {
  using nb::dlpack::dtype_code;
  dtype_code code = dtype_code::Int;
  if (is_floating(dtype)) code = dtype == DType::bf16 ? dtype_code::Bfloat : dtype_code::Float;
  if (dtype == DType::u8) code = dtype_code::UInt;
  if (dtype == DType::boolean) code = dtype_code::Bool;
  return {uint8_t(code), uint8_t(8 * size_of(dtype)), 1};
}

DType dtype_of_array(const nb::dlpack::dtype& found) {
  for (DType dtype : kAllDTypes)
    if (found == dlpack_dtype(dtype)) return dtype;
  throw DTypeError(fmt::format("an array of {} bits (kind {}) is none of the dtypes that tensors have",
                               found.bits, int(found.code)));
}

/// Keeps a Python object until the last tensor over its memory is gone, on whatever thread.
std::function<void()> keeping(nb::object owner) {
  PyObject* const object = owner.release().ptr();
  return [object] {
    if (!nb::is_alive()) return;  // the interpreter has gone before
    nb::gil_scoped_acquire acquired;
    Py_DECREF(object);
  };
}

/// Whether a tensor can lie over the array: no negative steps, elements where their type may lie.
bool can_share(const nb::ndarray<>& array, DType dtype) {
  for (size_t i = 0; i < array.ndim(); ++i)
    if (array.stride(i) < 0 && array.shape(i) > 1) return false;
  return reinterpret_cast<uintptr_t>(array.data()) % size_of(dtype) == 0;
}

/// A tensor over an array in the memory of the cpu.
Tensor over_array(const nb::ndarray<>& array, nb::object owner) {
  const DType dtype = dtype_of_array(array.dtype());
  require<DeviceError>(array.device_type() == nb::device::cpu::value,
                       "the array is not in the memory of the cpu");
  require<ShapeError>(array.ndim() <= size_t(kMaxRank), "an array of {} axes; a tensor has at most {}",
                      array.ndim(), kMaxRank);
  Shape shape;
  Strides strides;
  for (size_t i = 0; i < array.ndim(); ++i)
    shape.push_back(int64_t(array.shape(i))), strides.push_back(array.shape(i) > 1 ? array.stride(i) : 1);
  require<ValueError>(can_share(array, dtype),
                      "the array has negative steps or unaligned elements: copy it first");
  return Tensor::over(array.data(), shape, strides, dtype, kCpu, keeping(std::move(owner)));
}

/// The elements as an array that holds the tensor's storage.
template <class... Kind>
nb::ndarray<Kind...> array_over(const Tensor& x) {
  require<DeviceError>(x.device().kind != DeviceKind::cuda, "the tensor is on {}: move it to cpu first",
                       x.device());
  using Held = IntrusivePtr<Storage>;
  auto* held = new Held(x.handle()->storage);
  nb::capsule owner(held, [](void* pointer) noexcept { delete static_cast<Held*>(pointer); });
  size_t shape[kMaxRank];
  int64_t strides[kMaxRank];
  for (int i = 0; i < x.rank(); ++i) shape[i] = size_t(x.shape()[i]), strides[i] = x.strides()[i];
  return nb::ndarray<Kind...>(x.raw(), size_t(x.rank()), shape, owner, strides, dlpack_dtype(x.dtype()),
                              nb::device::cpu::value);
}

nb::object numpy_of(const Tensor& x) {
  require<DTypeError>(x.dtype() != DType::bf16,
                      "NumPy has no bfloat16: convert with .to(treadle.float32) first");
  // Whoever wrote into a tensor of a graph would change what its gradient is computed from, unseen.
  if (x.requires_grad()) return nb::cast(array_over<nb::numpy, nb::ro>(x));
  return nb::cast(array_over<nb::numpy>(x));
}

// --- indices ---

/// A view of x by ints, slices with positive steps, None and an ellipsis; nothing where the key has something
/// else.
std::optional<Tensor> basic_view(const Tensor& x, nb::handle key) {
  const bool is_tuple = nb::isinstance<nb::tuple>(key);
  const Py_ssize_t count = is_tuple ? PyTuple_GET_SIZE(key.ptr()) : 1;
  const auto entry = [&](Py_ssize_t i) {
    return is_tuple ? nb::handle(PyTuple_GET_ITEM(key.ptr(), i)) : key;
  };
  const auto is_index = [](nb::handle one) {
    return PyIndex_Check(one.ptr()) && !PyBool_Check(one.ptr()) && !nb::isinstance<Tensor>(one) &&
           !PySequence_Check(one.ptr());
  };
  int used = 0, ellipses = 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const nb::handle one = entry(i);
    if (one.is_none()) continue;
    if (one.ptr() == Py_Ellipsis)
      ++ellipses;
    else if (is_index(one) || PySlice_Check(one.ptr()))
      ++used;
    else
      return {};
  }
  if (ellipses > 1) throw nb::index_error("an index has at most one ellipsis");
  if (used > x.rank())
    throw nb::index_error(fmt::format("{} indices for a tensor of shape {}", used, x.shape()).c_str());
  Tensor y = x;
  int axis = 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const nb::handle one = entry(i);
    if (one.is_none()) {
      y = unsqueeze(y, axis++);
    } else if (one.ptr() == Py_Ellipsis) {
      axis += x.rank() - used;
    } else if (PySlice_Check(one.ptr())) {
      Py_ssize_t begin, end, step;
      if (PySlice_Unpack(one.ptr(), &begin, &end, &step) < 0) nb::raise_python_error();
      if (step < 0) return {};
      const int64_t extent = y.shape()[axis], length = PySlice_AdjustIndices(extent, &begin, &end, step);
      if (length != extent || step != 1) y = slice(y, axis, begin, std::max(begin, end), step);
      ++axis;
    } else {
      const int64_t extent = y.shape()[axis];
      const Py_ssize_t index = PyNumber_AsSsize_t(one.ptr(), PyExc_IndexError);
      if (index == -1 && PyErr_Occurred()) nb::raise_python_error();
      if (index < -extent || index >= extent)
        throw nb::index_error(
            fmt::format("index {} is out of range for axis {} of extent {}", index, axis, extent).c_str());
      const int64_t place = index < 0 ? index + extent : index;
      y = squeeze(slice(y, axis, place, place + 1), axis);
    }
  }
  return y;
}

// --- operators ---

using Binary = Tensor (*)(const Operand&, const Operand&);

void def_operator(nb::class_<Tensor>& type, const char* name, const char* reflected, Binary function) {
  const auto call = [function](const Operand& a, const Operand& b) {
    nb::gil_scoped_release released;
    return function(a, b);
  };
  type.def(
      name, [call](const Tensor& a, const OperandArgument& b) { return call(a, b.operand()); },
      nb::is_operator());
  if (reflected)
    type.def(
        reflected, [call](const Tensor& b, const OperandArgument& a) { return call(a.operand(), b); },
        nb::is_operator());
}

void def_operators(nb::class_<Tensor>& type) {
  def_operator(type, "__add__", "__radd__", add);
  def_operator(type, "__sub__", "__rsub__", sub);
  def_operator(type, "__mul__", "__rmul__", mul);
  def_operator(type, "__truediv__", "__rtruediv__", div);
  def_operator(type, "__pow__", "__rpow__", treadle::pow);
  def_operator(type, "__eq__", nullptr, equal);
  def_operator(type, "__ne__", nullptr, not_equal);
  def_operator(type, "__lt__", nullptr, less);
  def_operator(type, "__le__", nullptr, less_equal);
  def_operator(type, "__gt__", nullptr, greater);
  def_operator(type, "__ge__", nullptr, greater_equal);
  type.def(
      "__matmul__",
      [](const Tensor& a, const Tensor& b) {
        nb::gil_scoped_release released;
        return matmul(a, b);
      },
      nb::is_operator());
  type.def("__neg__", [](const Tensor& x) { return neg(x); });
  type.def("__pos__", [](const Tensor& x) { return x; });
  type.def("__abs__", [](const Tensor& x) { return treadle::abs(x); });
  type.def("__hash__", [](const Tensor& x) { return std::hash<const void*>()(x.handle().get()); });
}

/// `f(*extents)` and `f(extents)`.
Dims dims_of(const nb::args& arguments) {
  Dims dims;
  const nb::handle source = arguments.size() == 1 ? nb::handle(arguments[0]) : nb::handle(arguments);
  if (!read_dims(source, dims)) throw nb::type_error("a sequence of ints is expected");
  return dims;
}

void def_properties(nb::class_<Tensor>& type) {
  type.def_prop_ro(
          "shape", [](const Tensor& x) { return x.shape(); }, "The extents of the axes.")
      .def_prop_ro(
          "dtype", [](const Tensor& x) { return x.dtype(); }, "The type of the elements.")
      .def_prop_ro(
          "device", [](const Tensor& x) { return x.device(); },
          "Where they lie: \"cpu\", \"simt\", \"cuda:0\".")
      .def_prop_ro(
          "ndim", [](const Tensor& x) { return x.rank(); }, "How many axes there are.")
      .def_prop_ro(
          "size", [](const Tensor& x) { return x.numel(); }, "How many elements there are.")
      .def_prop_ro(
          "strides", [](const Tensor& x) { return x.strides(); }, "Steps along the axes, in elements.")
      .def_prop_ro(
          "is_contiguous", [](const Tensor& x) { return x.is_contiguous(); },
          "Whether the elements lie row-major without gaps.")
      .def_prop_ro(
          "T",
          [](const Tensor& x) {
            Dims axes;
            for (int i = x.rank() - 1; i >= 0; --i) axes.push_back(i);
            return permute(x, axes);
          },
          "The axes in reverse order.")
      .def_prop_ro(
          "mT", [](const Tensor& x) { return transpose(x, -2, -1); }, "The last two axes swapped.")
      .def_prop_rw(
          "requires_grad", [](const Tensor& x) { return x.requires_grad(); },
          [](Tensor& x, bool value) { x.set_requires_grad(value); },
          "Whether backward() leaves a gradient, and ops of it are differentiated.")
      .def_prop_rw(
          "grad",
          [](const Tensor& x) -> nb::object {
            const Tensor gradient = x.grad();
            return gradient.defined() ? nb::cast(gradient) : nb::none();
          },
          [](Tensor& x, const Tensor* gradient) { x.set_grad(or_undefined(gradient)); },
          nb::arg("gradient").none(), "The accumulated gradient, or None.");
}

Tensor moved(const Tensor& x, nb::handle where) {
  DType dtype;
  if (read_dtype(where, dtype)) {
    nb::gil_scoped_release released;
    return cast(x, dtype);
  }
  Device device;
  if (read_device(where, device)) {
    nb::gil_scoped_release released;
    return to(x, device);
  }
  throw nb::type_error("a device or a dtype is expected");
}

void def_methods(nb::class_<Tensor>& type) {
  type.def(
          "reshape", [](const Tensor& x, const nb::args& shape) { return reshape(x, dims_of(shape)); },
          "The elements in row-major order under another shape: reshape(2, -1) or reshape((2, -1)).")
      .def(
          "permute", [](const Tensor& x, const nb::args& axes) { return permute(x, dims_of(axes)); },
          "Axis i of the result is axis axes[i].")
      .def("to", moved, nb::arg("where"),
           "On another device, or of another dtype; itself where it is so already.")
      .def(
          "detach", [](const Tensor& x) { return x.detach(); }, "The same elements, cut off from the graph.")
      .def(
          "requires_grad_",
          [](nb::object self, bool value) {
            nb::cast<Tensor&>(self).set_requires_grad(value);
            return self;
          },
          nb::arg("value") = true, "Marks a leaf as requiring a gradient; returns it.")
      .def(
          "backward",
          [](const Tensor& x, const Tensor* upstream, bool retain_graph) {
            const Tensor& given = or_undefined(upstream);
            nb::gil_scoped_release released;
            x.backward(given, retain_graph);
          },
          nb::arg("gradient").none() = nb::none(), nb::arg("retain_graph") = false,
          "Adds the gradient of this tensor with respect to every leaf to the leaf's grad.")
      .def(
          "item",
          [](const Tensor& x) -> nb::object {
            const double value = x.item();
            if (is_floating(x.dtype())) return nb::float_(value);
            if (x.dtype() == DType::boolean) return nb::bool_(value != 0);
            if (x.dtype() == DType::i64) return nb::int_(x.to_vector<int64_t>()[0]);
            return nb::int_(int64_t(value));
          },
          "The single element as a Python number.")
      .def(
          "data_ptr", [](const Tensor& x) { return reinterpret_cast<uintptr_t>(x.raw()); },
          "Where the first element lies.")
      .def(
          "same_as", [](const Tensor& x, const Tensor& other) { return x.same_as(other); }, nb::arg("other"),
          "Whether both are one tensor, not equal ones.")
      .def(
          "copy_",
          [](nb::object self, const Tensor& source) {
            const Tensor& x = nb::cast<Tensor&>(self);
            nb::gil_scoped_release released;
            copy_into(x, source);
            return self;
          },
          nb::arg("source"),
          "Overwrites the elements by those of `source`, which broadcast; returns the tensor.")
      .def("__len__",
           [](const Tensor& x) {
             if (x.rank() == 0) throw nb::type_error("a tensor of rank 0 has no length");
             return x.shape()[0];
           })
      .def("__bool__", [](const Tensor& x) { return x.item() != 0; })
      .def("__float__", [](const Tensor& x) { return x.item(); })
      .def("__int__", [](const Tensor& x) { return int64_t(x.item()); })
      .def("_basic_view", basic_view, nb::arg("key").none())
      .def("_wrote", [](const Tensor& x) { x.handle()->storage->bump_version(); })
      .def("numpy", numpy_of,
           "The elements as a NumPy array over the same memory; read-only where a gradient is required.")
      .def("__dlpack__", [](const Tensor& x, const nb::kwargs&) { return array_over<>(x); })
      .def("__dlpack_device__",
           [](const Tensor&) { return std::make_tuple(int(nb::device::cpu::value), 0); });
}

}  // namespace

void bind_tensor(nb::module_& m) {
  nb::class_<Tensor> type(
      m, "Tensor", "An n-dimensional array on a device. Made by treadle.tensor(), from_numpy() and others.");
  type.def(
      "__init__",
      [](Tensor* self, nb::object data) {
        if (!nb::isinstance<Tensor>(data)) data = nb::module_::import_("treadle").attr("tensor")(data);
        new (self) Tensor(nb::cast<const Tensor&>(data));
      },
      nb::arg("data"),
      "Numbers, nested sequences and arrays are copied, as by treadle.tensor(); of a tensor it is one more "
      "name.");
  def_properties(type);
  def_operators(type);
  def_methods(type);
  m.def(
      "from_array", [](nb::object source) { return over_array(nb::cast<nb::ndarray<>>(source), source); },
      nb::arg("array"), "A tensor over the memory of an array (buffer, NumPy, DLPack): writes show in both.");
  m.def(
      "empty",
      [](const DimsArgument& shape, DType dtype, Device device) {
        return Tensor::empty(shape.value, dtype, device);
      },
      nb::arg("shape"), nb::arg("dtype") = DType::f32, nb::arg("device") = kCpu,
      "Uninitialised memory, row-major.");
  bind_functions(m, type);
}

}  // namespace treadle::python
