#include "python/bindings/memory.h"

#include <fmt/core.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>

#include "python/bindings/held_object.h"
#include "treadle/core/error.h"
#include "treadle/core/runtime.h"
#include "treadle/ops/layout/copy.h"

namespace treadle::python {
namespace {

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

Device device_of_array(const nb::ndarray<>& array) {
  if (array.device_type() == nb::device::cuda::value) return {DeviceKind::cuda, int(array.device_id())};
  require<DeviceError>(
      array.device_type() == nb::device::cpu::value,
      "the array is neither in the memory of the cpu nor of a CUDA device (DLPack's kind {})",
      array.device_type());
  return kCpu;
}

/// Whether a tensor can lie over the array: no negative steps, elements where their type may lie.
bool can_share(const nb::ndarray<>& array, DType dtype) {
  for (size_t i = 0; i < array.ndim(); ++i)
    if (array.stride(i) < 0 && array.shape(i) > 1) return false;
  return reinterpret_cast<uintptr_t>(array.data()) % size_of(dtype) == 0;
}

/// Of a simulated device, too, whose memory is the cpu's.
std::pair<int, int> dlpack_device(const Tensor& x) {
  const Device device = x.device();
  if (device.kind == DeviceKind::cuda) return {nb::device::cuda::value, device.index};
  return {nb::device::cpu::value, 0};
}

/// The elements as an array that holds the tensor's storage.
template <class... Kind>
nb::ndarray<Kind...> array_over(const Tensor& x) {
  using Held = IntrusivePtr<Storage>;
  auto* held = new Held(x.handle()->storage);
  nb::capsule owner(held, [](void* pointer) noexcept { delete static_cast<Held*>(pointer); });
  size_t shape[kMaxRank];
  int64_t strides[kMaxRank];
  for (int i = 0; i < x.rank(); ++i) shape[i] = size_t(x.shape()[i]), strides[i] = x.strides()[i];
  const auto [kind, index] = dlpack_device(x);
  return nb::ndarray<Kind...>(x.raw(), size_t(x.rank()), shape, owner, strides, dlpack_dtype(x.dtype()), kind,
                              index);
}

nb::object numpy_of(const Tensor& x) {
  require<DTypeError>(x.dtype() != DType::bf16,
                      "NumPy has no bfloat16: convert with .to(treadle.float32) first");
  require<DeviceError>(x.device().kind != DeviceKind::cuda, "the tensor is on {}: move it to cpu first",
                       x.device());
  // Whoever wrote into a tensor of a graph would change what its gradient is computed from, unseen.
  if (x.requires_grad()) return nb::cast(array_over<nb::numpy, nb::ro>(x));
  return nb::cast(array_over<nb::numpy>(x));
}

// --- DLPack ---

/// What a consumer gets: x itself, a copy, or x in the memory of the cpu.
Tensor exported(const Tensor& x, nb::handle device, nb::handle copy) {
  if (x.requires_grad())
    throw nb::buffer_error("a tensor that requires a gradient is given away without it: detach() it first");
  const auto own = dlpack_device(x);
  std::pair<int, int> wanted = own;
  if (!device.is_none() && !nb::try_cast(device, wanted))
    throw nb::type_error("dl_device is a pair of ints: the kind of the device and its number");
  const bool moves = wanted != own, may_copy = copy.ptr() != Py_False;
  if (moves && (wanted != std::pair<int, int>(nb::device::cpu::value, 0) || !may_copy))
    throw nb::buffer_error(fmt::format("a tensor on {} is not given to device ({}, {}) {}",
                                       to_string(x.device()), wanted.first, wanted.second,
                                       may_copy ? "" : "without a copy")
                               .c_str());
  nb::gil_scoped_release released;
  if (moves) return to(x, kCpu);
  return copy.ptr() == Py_True ? clone(x) : x;
}

nb::object dlpack_of(const Tensor& x, nb::handle stream, nb::handle max_version, nb::handle device,
                     nb::handle copy) {
  const Tensor given = exported(x, device, copy);
  const bool on_cuda = given.device().kind == DeviceKind::cuda;
  if (!on_cuda && !stream.is_none())
    throw nb::value_error("a tensor in the memory of the cpu has no stream: stream must be None");
  if (on_cuda) {  // the consumer's stream need not wait for ours: the work is done
    nb::gil_scoped_release released;
    runtime(given.device()).synchronize();
  }
  return nb::cast(array_over<nb::array_api>(given)).attr("__dlpack__")(nb::arg("max_version") = max_version);
}

/// https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html, version 3.
nb::dict cuda_array_interface(const Tensor& x) {
  if (x.device().kind != DeviceKind::cuda)
    throw nb::attribute_error(
        fmt::format("a tensor on {} has no __cuda_array_interface__", to_string(x.device())).c_str());
  require<DTypeError>(x.dtype() != DType::bf16, "__cuda_array_interface__ has no bfloat16: use DLPack");
  if (x.requires_grad())
    throw nb::attribute_error(
        "a tensor that requires a gradient is given away without it: detach() it first");
  runtime(x.device()).synchronize();
  const char kind = is_floating(x.dtype())        ? 'f'
                    : x.dtype() == DType::boolean ? 'b'
                    : x.dtype() == DType::u8      ? 'u'
                                                  : 'i';
  const size_t bytes = size_of(x.dtype());
  Dims steps = x.strides();
  for (int i = 0; i < x.rank(); ++i) steps[i] *= int64_t(bytes);
  nb::dict interface;
  interface["shape"] = x.shape();
  interface["typestr"] = fmt::format("{}{}{}", bytes == 1 ? '|' : '<', kind, bytes);
  interface["data"] = nb::make_tuple(reinterpret_cast<uintptr_t>(x.raw()), false);
  interface["strides"] = steps;
  interface["version"] = 3;
  return interface;
}

// --- the buffer protocol ---

/// What a buffer points to while somebody has it: a tensor may get other memory in the meantime.
struct Exported {
  IntrusivePtr<Storage> storage;
  Py_ssize_t shape[kMaxRank], strides[kMaxRank];
};

/// The letter that the module struct has for it; none for bf16.
const char* letter_of(DType dtype) {
  constexpr const char* kLetters[kDTypeCount] = {"f", "d", "e", nullptr, "b", "B", "h", "i", "l", "?"};
  return kLetters[int(dtype)];
}

bool is_column_major(const Tensor& x) {
  int64_t step = 1;
  for (int i = 0; i < x.rank(); ++i) {
    if (x.shape()[i] > 1 && x.strides()[i] != step) return false;
    step *= x.shape()[i];
  }
  return true;
}

/// Why there is no such buffer of the tensor; nothing where there is one.
const char* buffer_refusal(const Tensor& x, int flags) {
  const auto asks = [flags](int what) { return (flags & what) == what; };
  if (x.is_symbolic()) return "a tensor in a recording has no elements";
  if (x.device().kind == DeviceKind::cuda) return "the tensor is on a CUDA device: move it to cpu first";
  if (!letter_of(x.dtype())) return "buffers have no bfloat16: convert with .to(treadle.float32) first";
  if (asks(PyBUF_WRITABLE) && x.requires_grad())
    return "a tensor that requires a gradient is not written: detach() it first";
  const bool rows = x.is_contiguous(), columns = is_column_major(x);
  if (asks(PyBUF_C_CONTIGUOUS) && !rows) return "the tensor is not row-major without gaps";
  if (asks(PyBUF_F_CONTIGUOUS) && !columns) return "the tensor is not column-major without gaps";
  if (asks(PyBUF_ANY_CONTIGUOUS) && !rows && !columns) return "the tensor has gaps";
  if (!asks(PyBUF_STRIDES) && !rows) return "the tensor is not row-major without gaps";
  return nullptr;
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  view->obj = nullptr;
  const Tensor& x = *nb::inst_ptr<Tensor>(self);
  if (const char* refusal = buffer_refusal(x, flags)) return PyErr_SetString(PyExc_BufferError, refusal), -1;
  auto* held = new Exported{x.handle()->storage, {}, {}};
  const Py_ssize_t bytes = Py_ssize_t(size_of(x.dtype()));
  for (int i = 0; i < x.rank(); ++i) held->shape[i] = x.shape()[i], held->strides[i] = x.strides()[i] * bytes;
  view->buf = x.raw();
  view->len = x.numel() * bytes;
  view->itemsize = bytes;
  view->readonly = x.requires_grad();
  view->ndim = x.rank();
  view->format = flags & PyBUF_FORMAT ? const_cast<char*>(letter_of(x.dtype())) : nullptr;
  view->shape = flags & PyBUF_ND ? held->shape : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? held->strides : nullptr;
  view->suboffsets = nullptr;
  view->internal = held;
  view->obj = Py_NewRef(self);
  return 0;
}

void release_buffer(PyObject*, Py_buffer* view) noexcept { delete static_cast<Exported*>(view->internal); }

}  // namespace

PyType_Slot buffer_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                              {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
                              {0, nullptr}};

Tensor over_array(nb::object source) {
  nb::ndarray<> array;
  if (!nb::try_cast(source, array))
    throw nb::type_error(
        fmt::format("a {} does not hold numbers that a tensor can", nb::type_name(source.type()).c_str())
            .c_str());
  const DType dtype = dtype_of_array(array.dtype());
  const Device device = device_of_array(array);
  require<ShapeError>(array.ndim() <= size_t(kMaxRank), "an array of {} axes; a tensor has at most {}",
                      array.ndim(), kMaxRank);
  Shape shape;
  Strides strides;
  for (size_t i = 0; i < array.ndim(); ++i)
    shape.push_back(int64_t(array.shape(i))), strides.push_back(array.shape(i) > 1 ? array.stride(i) : 1);
  require<ValueError>(can_share(array, dtype),
                      "the array has negative steps or unaligned elements: copy it first");
  // An object that holds what the memory belongs to; the one that gave it may be gone.
  nb::object held = nb::cast(nb::ndarray<nb::array_api>(array.handle()));
  return Tensor::over(array.data(), shape, strides, dtype, device, keeping(std::move(held)));
}

Tensor reinterpreted(const Tensor& x, DType dtype) {
  require<DTypeError>(size_of(dtype) == size_of(x.dtype()), "the bits of {} are none of {}",
                      name_of(x.dtype()), name_of(dtype));
  const Tensor y = x.detach();
  y.handle()->dtype = dtype;
  return y;
}

void def_memory(nb::class_<Tensor>& type) {
  type.def("numpy", numpy_of,
           "The elements as a NumPy array over the same memory; read-only where a gradient is required.")
      .def("__dlpack__", dlpack_of, nb::kw_only(), nb::arg("stream").none() = nb::none(),
           nb::arg("max_version").none() = nb::none(), nb::arg("dl_device").none() = nb::none(),
           nb::arg("copy").none() = nb::none(),
           "The memory for other libraries (DLPack 1.x where max_version allows). On cuda the tensor's own "
           "work is waited for, whatever the stream. Raises BufferError where a gradient is required, for "
           "another device than the own or the cpu, and where a copy is needed that copy=False forbids.")
      .def("__dlpack_device__", dlpack_device, "DLPack's kind of the device, and its number.")
      .def_prop_ro(
          "__cuda_array_interface__", cuda_array_interface,
          "The memory for Numba, CuPy and others, of tensors on cuda; AttributeError on other devices.");
}

}  // namespace treadle::python
