/// The class Tensor: what it is, its operators and methods.
#include <nanobind/stl/optional.h>

#include "python/bindings/arguments.h"
#include "python/bindings/indexing.h"
#include "python/bindings/memory.h"
#include "python/bindings/rooms.h"
#include "treadle/core/error.h"
#include "treadle/core/runtime.h"
#include "treadle/graph/autograd.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/matrix/matmul.h"

namespace treadle::python {
namespace {

// --- updates in place ---

/// Whether other tensors, arrays or gradients to come may read the same memory.
bool is_shared(const Tensor& x) { return x.handle()->storage->use_count() > 1; }

/// Makes every name of x mean `result`, its place in the graph included.
void become(const Tensor& x, const Tensor& result) {
  TensorData& data = *x.handle();
  const TensorData& other = *result.handle();
  data.storage = other.storage, data.offset = other.offset, data.strides = other.strides;
  data.autograd = other.autograd;
}

void require_like(const Tensor& x, const Tensor& result) {
  const auto category = [](DType dtype) { return dtype == DType::boolean ? 0 : is_floating(dtype) ? 2 : 1; };
  require<ShapeError>(result.shape() == x.shape(), "an update in place gives shape {}, the tensor has {}",
                      result.shape(), x.shape());
  require<DTypeError>(category(result.dtype()) <= category(x.dtype()),
                      "an update in place gives {}, the tensor holds {}", name_of(result.dtype()),
                      name_of(x.dtype()));
}

/// Gives x, under all its names, the value of make(), in x's dtype. Where that has a gradient, x is its place
/// in the graph: what others read in the same memory would see neither.
template <class Make>
void update(const Tensor& x, const Make& make) {
  require<AutogradError>(!(gradient_mode() && leaf_state(x)),
                         "a leaf that requires a gradient is written in place under treadle.no_grad() only");
  const bool shared = is_shared(x);  // before gradients to come have it
  Tensor result = make();
  require_like(x, result);
  result = cast(result, x.dtype());
  if (!result.requires_grad()) return copy_into(x, result);
  require<AutogradError>(
      !shared,
      "an update in place with gradients, of a tensor whose memory others read (views, arrays, recordings, "
      "gradients to come): make a new one, as in x = x + y");
  become(x, result);
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

/// `x op= value`; the value is made before x is written, so that x may be part of it.
void def_update(nb::class_<Tensor>& type, const char* name, Binary function) {
  type.def(
      name,
      [function](nb::object self, const OperandArgument& b) -> nb::typed<nb::object, Tensor> {
        const Tensor& x = *nb::inst_ptr<Tensor>(self);
        {
          nb::gil_scoped_release released;
          update(x, [&] { return function(x, b.operand()); });
        }
        return nb::typed<nb::object, Tensor>(self);
      },
      nb::is_operator());
}

void def_operators(nb::class_<Tensor>& type) {
  def_operator(type, "__add__", "__radd__", add);
  def_update(type, "__iadd__", add);
  def_operator(type, "__sub__", "__rsub__", sub);
  def_update(type, "__isub__", sub);
  def_operator(type, "__mul__", "__rmul__", mul);
  def_update(type, "__imul__", mul);
  def_operator(type, "__truediv__", "__rtruediv__", div);
  def_update(type, "__itruediv__", div);
  def_operator(type, "__pow__", "__rpow__", treadle::pow);
  def_update(type, "__ipow__", treadle::pow);
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
  using Released = nb::call_guard<nb::gil_scoped_release>;
  type.def(
      "__neg__", [](const Tensor& x) { return neg(x); }, Released());
  type.def("__pos__", [](const Tensor& x) { return x; });
  type.def(
      "__abs__", [](const Tensor& x) { return treadle::abs(x); }, Released());
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
          "itemsize", [](const Tensor& x) { return size_of(x.dtype()); }, "Bytes of an element.")
      .def_prop_ro(
          "nbytes", [](const Tensor& x) { return x.numel() * int64_t(size_of(x.dtype())); },
          "Bytes of all elements.")
      .def_prop_ro(
          "is_leaf", [](const Tensor& x) { return !x.requires_grad() || bool(leaf_state(x)); },
          "Whether no op made the tensor of others that require a gradient.")
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
          "grad", [](const Tensor& x) { return tensor_or_none(x.grad()); },
          [](Tensor& x, const Tensor* gradient) { x.set_grad(or_undefined(gradient)); },
          nb::arg("gradient").none(), "The accumulated gradient, or None.");
}

/// What `to` asks for: x's own unless an argument says otherwise.
struct Place {
  DType dtype;
  Device device;

  void read(nb::handle what) {
    if (nb::isinstance<Tensor>(what)) {
      const Tensor& like = *nb::inst_ptr<Tensor>(what);
      dtype = like.dtype(), device = like.device();
    } else if (!read_dtype(what, dtype) && !read_device(what, device)) {
      throw nb::type_error("a device, a dtype or a tensor is expected");
    }
  }
};

Tensor moved(const Tensor& x, const nb::args& what, nb::handle dtype, nb::handle device, bool copy) {
  Place place{x.dtype(), x.device()};
  for (nb::handle one : what) place.read(one);
  if (!dtype.is_none()) place.read(dtype);
  if (!device.is_none()) place.read(device);
  nb::gil_scoped_release released;
  const Tensor y = to(cast(x, place.dtype), place.device);
  return copy && y.same_as(x) ? clone(y) : y;
}

nb::object number_of(const Tensor& x) {
  if (x.dtype() != DType::i64) {
    double value;
    {
      nb::gil_scoped_release released;
      value = x.item();
    }
    if (is_floating(x.dtype())) return nb::float_(value);
    if (x.dtype() == DType::boolean) return nb::bool_(value != 0);
    return nb::int_(int64_t(value));
  }
  require<ShapeError>(x.numel() == 1, "item: the tensor has {} elements", x.numel());
  nb::gil_scoped_release released;
  const int64_t value = x.to_vector<int64_t>()[0];
  nb::gil_scoped_acquire acquired;
  return nb::int_(value);
}

/// As Python's int() of the element: the whole part.
nb::object whole_number_of(const Tensor& x) {
  const nb::object number = number_of(x);
  nb::object whole = nb::steal(PyNumber_Long(number.ptr()));
  if (!whole) nb::raise_python_error();
  return whole;
}

nb::object index_of(const Tensor& x) {
  if (is_floating(x.dtype()) || x.rank() != 0)
    throw nb::type_error("only a tensor of rank 0 that holds an integer is an index");
  return whole_number_of(x);
}

void def_methods(nb::class_<Tensor>& type) {
  type.def(
          "reshape", [](const Tensor& x, const nb::args& shape) { return reshape(x, dims_of(shape)); },
          "The elements in row-major order under another shape: reshape(2, -1) or reshape((2, -1)).")
      .def(
          "permute", [](const Tensor& x, const nb::args& axes) { return permute(x, dims_of(axes)); },
          "Axis i of the result is axis axes[i].")
      .def("to", moved, nb::arg("where"), nb::kw_only(), nb::arg("dtype").none() = nb::none(),
           nb::arg("device").none() = nb::none(), nb::arg("copy") = false,
           "On another device, of another dtype, or both: to(\"cuda\"), to(td.float16), to(other). Itself "
           "where it is so already, unless `copy` asks for a copy.")
      .def(
          "detach", [](const Tensor& x) { return x.detach(); }, "The same elements, cut off from the graph.")
      .def(
          "requires_grad_",
          [](nb::object self, bool value) -> SelfObject {
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
      .def("item", number_of, "The single element as a Python number.")
      .def(
          "data_ptr", [](const Tensor& x) { return reinterpret_cast<uintptr_t>(x.raw()); },
          "Where the first element lies.")
      .def(
          "same_as", [](const Tensor& x, const Tensor& other) { return x.same_as(other); }, nb::arg("other"),
          "Whether both are one tensor, not equal ones.")
      .def(
          "copy_",
          [](nb::object self, const Tensor& source) -> SelfObject {
            const Tensor& x = nb::cast<Tensor&>(self);
            {
              nb::gil_scoped_release released;
              copy_into(x, source);
            }
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
      .def("__int__", whole_number_of)
      .def("__index__", index_of)
      .def("_basic_view", basic_view, nb::arg("key").none())
      .def("_wrote", [](const Tensor& x) { x.handle()->storage->bump_version(); })
      .def("_update",
           [](const Tensor& x, const nb::callable& make) {
             nb::gil_scoped_release released;
             update(x, [&] {
               nb::gil_scoped_acquire acquired;
               return nb::cast<Tensor>(make());
             });
           })
      .def("_is_symbolic", [](const Tensor& x) { return x.is_symbolic(); });
}

}  // namespace

void bind_tensor(nb::module_& m) {
  nb::class_<Tensor> type(
      m, "Tensor", nb::type_slots(buffer_slots),
      "An n-dimensional array on a device. Made by treadle.tensor(), from_numpy() and others.");
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
  def_memory(type);
  m.def(
      "known_devices",
      [] {
        std::vector<std::string> names;
        for (const DeviceName& one : kDeviceNames)
          for (int i = 0; i < device_count(one.kind); ++i) names.push_back(to_string(Device{one.kind, i}));
        return names;
      },
      "The devices that are there.");
  m.def("_reinterpreted", reinterpreted, nb::arg("x"), nb::arg("dtype"));
  m.def("from_array", over_array, nb::arg("array"),
        "A tensor over the memory of an array (buffer, NumPy, DLPack): writes show in both.");
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
