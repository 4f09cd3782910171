/// Tensor: a handle to a strided view of reference-counted storage on one device.
#pragma once  // public

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "treadle/core/device.h"
#include "treadle/core/dtype.h"
#include "treadle/core/intrusive.h"
#include "treadle/core/shape.h"
#include "treadle/core/tensor_view.h"

namespace treadle {

/// A block of device memory and its version: every write in place raises the version of all views at once.
///
/// A symbolic storage has a size but no memory: it stands for a value while a function is recorded.
class TREADLE_API Storage final : public RefCounted {
 public:
  Storage(Device device, size_t bytes);
  /// Symbolic; `origin` says what makes the value, and must outlive the storage.
  Storage(Device device, size_t bytes, const char* origin);
  /// Memory of somebody else, who is told by `release`, on any thread, that it is no longer used.
  Storage(Device device, size_t bytes, void* data, std::function<void()> release);
  ~Storage() override;

  void* data() const { return data_; }
  bool is_symbolic() const { return origin_ != nullptr; }
  const char* origin() const { return origin_; }
  /// Rises with every storage that is made.
  uint64_t number() const { return number_; }
  size_t bytes() const { return bytes_; }
  Device device() const { return device_; }
  uint64_t version() const { return version_; }
  void bump_version() { ++version_; }

 private:
  Device device_;
  size_t bytes_;
  const char* origin_ = nullptr;
  void* data_;
  std::function<void()> release_;
  uint64_t version_ = 0;
  uint64_t number_;
};

namespace detail {
/// While one lives, Tensor::empty() and its kin make symbolic storages in this thread, and elements of
/// tensors that were there before cannot be read: they may change before the recording is replayed.
class TREADLE_API SymbolicAllocation {
 public:
  SymbolicAllocation();
  ~SymbolicAllocation();
  SymbolicAllocation(const SymbolicAllocation&) = delete;
  SymbolicAllocation& operator=(const SymbolicAllocation&) = delete;

 private:
  uint64_t before_;
};
/// The number that the next storage will get.
TREADLE_API uint64_t next_storage_number();
}  // namespace detail

/// What automatic differentiation hangs on a tensor; defined by graph/.
class AutogradState : public RefCounted {};

struct TensorData final : RefCounted {
  IntrusivePtr<Storage> storage;
  int64_t offset = 0;  ///< in elements
  Shape shape;
  Strides strides;
  DType dtype = DType::f32;
  IntrusivePtr<AutogradState> autograd;
};

/// n-dimensional array. Copying a Tensor copies the handle; `clone()` (ops/layout/copy.h) copies the
/// elements. An empty handle ("no bias"), as a default-constructed or moved-from Tensor is, is allowed
/// wherever an op says so. Everything else throws ValueError on it, but for defined(), view(), to_string(),
/// handle(), same_as(), requires_grad() and grad().
class TREADLE_API Tensor {
 public:
  Tensor() = default;
  explicit Tensor(IntrusivePtr<TensorData> data) : data_(std::move(data)) {}

  /// Uninitialised memory, row-major.
  static Tensor empty(const Shape& shape, DType dtype = DType::f32, Device device = kCpu);
  /// Uninitialised memory with the given strides. Throws ShapeError unless they stay within as many elements
  /// as the shape has.
  static Tensor empty_strided(const Shape& shape, const Strides& strides, DType dtype, Device device);
  /// A tensor without elements, for recording a function; `origin` names what makes its value.
  static Tensor symbolic(const Shape& shape, const Strides& strides, DType dtype, Device device,
                         const char* origin);
  /// A tensor over memory that is there already, which it keeps alive until `release` is called. Throws
  /// ShapeError for negative strides.
  static Tensor over(void* data, const Shape& shape, const Strides& strides, DType dtype, Device device,
                     std::function<void()> release);
  static Tensor zeros(const Shape& shape, DType dtype = DType::f32, Device device = kCpu);
  /// Copies `values` (row-major) to `device`. Throws ShapeError when their number does not fit.
  template <class T>
  static Tensor from(std::span<const T> values, const Shape& shape, Device device = kCpu) {
    return from_bytes(values.data(), int64_t(values.size()), dtype_of<T>(), shape, device);
  }
  template <class T>
  static Tensor from(const std::vector<T>& values, const Shape& shape, Device device = kCpu) {
    return from(std::span<const T>(values), shape, device);
  }
  static Tensor from(std::initializer_list<float> values, const Shape& shape, Device device = kCpu) {
    return from(std::span<const float>(values.begin(), values.size()), shape, device);
  }

  bool defined() const { return bool(data_); }
  const Shape& shape() const { return existing("shape").shape; }
  const Strides& strides() const { return existing("strides").strides; }
  /// Extent of an axis, negative from the end. Throws ShapeError for an axis out of range.
  int64_t size(int axis) const;
  int rank() const { return existing("rank").shape.rank(); }
  int64_t numel() const { return existing("numel").shape.numel(); }
  DType dtype() const { return existing("dtype").dtype; }
  Device device() const { return existing("device").storage->device(); }
  bool is_contiguous() const { return treadle::is_contiguous(shape(), strides()); }
  /// Whether the tensor stands for a value in a recording and has no elements.
  bool is_symbolic() const { return existing("is_symbolic").storage->is_symbolic(); }

  /// Pointer to the first element, in device memory. Throws RecordingError for a symbolic tensor, as does
  /// everything else that reads elements.
  void* raw() const;
  /// Typed pointer to the first element. Throws DTypeError when T is not the tensor's dtype.
  template <class T>
  T* data() const {
    check_dtype(dtype_of<T>());
    return static_cast<T*>(raw());
  }
  TensorView view() const;

  /// A tensor over the same storage with other shape, strides and offset (elements, relative). Not
  /// differentiable. Throws ShapeError where an element would lie outside of the storage or a stride is
  /// negative.
  Tensor alias(const Shape& shape, const Strides& strides, int64_t offset = 0) const;
  /// The same elements, cut off from the graph.
  Tensor detach() const { return alias(shape(), strides()); }

  /// The elements, row-major, on the host. Waits for the device. Throws DTypeError when T is not the dtype.
  template <class T>
  std::vector<T> to_vector() const {
    check_dtype(dtype_of<T>());
    std::vector<T> values(numel());
    copy_to_host(values.data());
    return values;
  }
  std::vector<bool> to_bools() const;
  /// The elements as doubles, whatever the dtype. Waits for the device.
  std::vector<double> to_doubles() const;
  /// The single element as double. Throws ShapeError when there are more. Waits for the device.
  double item() const;
  /// "Tensor f32 [2, 3] cpu" and, for small tensors, the values.
  std::string to_string() const;

  // Automatic differentiation; defined in graph/autograd.cpp.
  bool requires_grad() const;
  /// Marks a leaf as requiring a gradient. Throws AutogradError on results of ops, DTypeError on integers.
  Tensor& set_requires_grad(bool value = true);
  /// The accumulated gradient; undefined before the first backward().
  Tensor grad() const;
  /// Replaces the accumulated gradient; undefined drops it. Throws ShapeError, DTypeError, DeviceError unless
  /// it is like the tensor.
  void set_grad(const Tensor& gradient);
  /// Adds d(this)/d(leaf) to every leaf's grad. `upstream` defaults to 1 for a single element.
  void backward(const Tensor& upstream = {}, bool retain_graph = false) const;

  /// Makes this handle, and all copies of it, refer to `other`'s elements; the gradient state stays. For
  /// moving a parameter to another device: if it requires a gradient, shape and dtype must be equal.
  void assign(const Tensor& other) const;

  const IntrusivePtr<TensorData>& handle() const { return data_; }
  bool same_as(const Tensor& other) const { return data_ == other.data_; }

 private:
  static Tensor from_bytes(const void* values, int64_t count, DType dtype, const Shape& shape, Device device);
  /// What the handle refers to, for the member function `asking`.
  const TensorData& existing(const char* asking) const {
    if (!data_) [[unlikely]]
      throw_undefined(asking);
    return *data_;
  }
  [[noreturn]] static void throw_undefined(const char* asking);
  void check_dtype(DType wanted) const;
  bool may_be_read() const;
  void copy_to_host(void* target) const;

  IntrusivePtr<TensorData> data_;
};

}  // namespace treadle
