#include "treadle/core/tensor.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "treadle/core/allocator.h"
#include "treadle/core/error.h"

namespace treadle {

namespace {

std::atomic<uint64_t> storages_made{0};
constexpr uint64_t kNotSymbolic = UINT64_MAX;
/// While allocation is symbolic: the first storage made since.
thread_local uint64_t symbolic_since = kNotSymbolic;

size_t bytes_of(const Shape& shape, DType dtype) {
  int64_t bytes;
  require<ShapeError>(!__builtin_mul_overflow(checked_numel(shape), int64_t(size_of(dtype)), &bytes),
                      "shape {} has too many elements", shape);
  return size_t(bytes);
}

Tensor tensor_over(IntrusivePtr<Storage> storage, const Shape& shape, const Strides& strides, DType dtype) {
  auto data = make_intrusive<TensorData>();
  data->storage = std::move(storage);
  data->shape = shape;
  data->strides = strides;
  data->dtype = dtype;
  return Tensor(std::move(data));
}

/// Row-major memory, also while allocation is symbolic: for elements that are known now.
Tensor real_memory(const Shape& shape, DType dtype, Device device) {
  return tensor_over(make_intrusive<Storage>(device, bytes_of(shape, dtype)), shape,
                     contiguous_strides(shape), dtype);
}

}  // namespace

namespace detail {
SymbolicAllocation::SymbolicAllocation() : before_(std::exchange(symbolic_since, next_storage_number())) {}
SymbolicAllocation::~SymbolicAllocation() { symbolic_since = before_; }
uint64_t next_storage_number() { return storages_made.load(std::memory_order_relaxed); }
}  // namespace detail

Storage::Storage(Device device, size_t bytes)
    : device_(device), bytes_(bytes), data_(allocator(device).allocate(bytes)), number_(storages_made++) {}

Storage::Storage(Device device, size_t bytes, const char* origin)
    : device_(device), bytes_(bytes), origin_(origin), data_(nullptr), number_(storages_made++) {}

Storage::Storage(Device device, size_t bytes, void* data, std::function<void()> release)
    : device_(device), bytes_(bytes), data_(data), release_(std::move(release)), number_(storages_made++) {}

Storage::~Storage() {
  if (release_)
    release_();
  else if (!is_symbolic())
    allocator(device_).free(data_, bytes_);
}

Tensor Tensor::symbolic(const Shape& shape, const Strides& strides, DType dtype, Device device,
                        const char* origin) {
  const size_t dense = bytes_of(shape, dtype);  // first: it refuses what reach() would overflow on
  const size_t bytes = std::max(dense, size_t(reach(shape, strides)) * size_of(dtype));
  return tensor_over(make_intrusive<Storage>(device, bytes, origin), shape, strides, dtype);
}

namespace {

/// The element behind the last one reached; throws ShapeError when strides do not fit the shape, are negative
/// or lead beyond `room` elements from `offset` on.
void require_reach(const Shape& shape, const Strides& strides, int64_t offset, int64_t room) {
  require<ShapeError>(strides.rank() == shape.rank(), "shape {} and strides {} differ in their axes", shape,
                      strides);
  int64_t last = offset;
  bool inside = offset >= 0 && (offset < room || (offset == room && shape.numel() == 0));
  for (int axis = 0; axis < shape.rank() && shape.numel() > 0; ++axis) {
    int64_t way;
    inside = inside && (shape[axis] == 1 || strides[axis] >= 0) &&
             !__builtin_mul_overflow(shape[axis] - 1, strides[axis], &way) &&
             !__builtin_add_overflow(last, way, &last) && last < room;
  }
  require<ShapeError>(inside, "shape {} with strides {} from element {} on reaches beyond {} elements", shape,
                      strides, offset, room);
}

}  // namespace

Tensor Tensor::empty_strided(const Shape& shape, const Strides& strides, DType dtype, Device device) {
  require_reach(shape, strides, 0, checked_numel(shape));
  if (symbolic_since != kNotSymbolic) return symbolic(shape, strides, dtype, device, "uninitialised memory");
  return tensor_over(make_intrusive<Storage>(device, bytes_of(shape, dtype)), shape, strides, dtype);
}

Tensor Tensor::empty(const Shape& shape, DType dtype, Device device) {
  return empty_strided(shape, contiguous_strides(shape), dtype, device);
}

Tensor Tensor::over(void* data, const Shape& shape, const Strides& strides, DType dtype, Device device,
                    std::function<void()> release) {
  checked_numel(shape);
  const int64_t elements = reach(shape, strides);
  require_reach(shape, strides, 0, elements);
  return tensor_over(
      make_intrusive<Storage>(device, size_t(elements) * size_of(dtype), data, std::move(release)), shape,
      strides, dtype);
}

Tensor Tensor::zeros(const Shape& shape, DType dtype, Device device) {
  Tensor result = real_memory(shape, dtype, device);
  runtime(device).fill_bytes(result.raw(), 0, size_t(result.numel()) * size_of(dtype));
  return result;
}

Tensor Tensor::from_bytes(const void* values, int64_t count, DType dtype, const Shape& shape, Device device) {
  require<ShapeError>(count == checked_numel(shape), "{} values do not fill shape {}", count, shape);
  Tensor result = real_memory(shape, dtype, device);
  runtime(device).copy_from_host(result.raw(), values, size_t(count) * size_of(dtype));
  return result;
}

void Tensor::throw_undefined(const char* asking) {
  throw ValueError(fmt::format("{}: the tensor is undefined", asking));
}

int64_t Tensor::size(int axis) const {
  const Shape& shape = existing("size").shape;
  return shape[normalize_axis(axis, shape.rank(), "size")];
}

void* Tensor::raw() const {
  existing("raw");
  if (is_symbolic()) [[unlikely]]
    throw RecordingError(fmt::format(
        "the value of '{}' {} was read, but it belongs to a compiled function, which is recorded before it "
        "runs: it has no value yet. Return the tensor from the function and read it after the call; "
        "decide by values outside of the function, or with ops such as where()",
        data_->storage->origin(), shape()));
  return static_cast<char*>(data_->storage->data()) + data_->offset * int64_t(size_of(data_->dtype));
}

TensorView Tensor::view() const {
  if (!defined()) return {};
  return {raw(), dtype(), shape(), strides()};
}

Tensor Tensor::alias(const Shape& shape, const Strides& strides, int64_t offset) const {
  const TensorData& source = existing("alias");
  checked_numel(shape);
  int64_t begin;
  require<ShapeError>(!__builtin_add_overflow(source.offset, offset, &begin), "alias: offset {} from {}",
                      offset, source.offset);
  require_reach(shape, strides, begin, int64_t(source.storage->bytes() / size_of(source.dtype)));
  auto data = make_intrusive<TensorData>();
  data->storage = source.storage;
  data->offset = begin;
  data->shape = shape;
  data->strides = strides;
  data->dtype = source.dtype;
  return Tensor(std::move(data));
}

void Tensor::assign(const Tensor& other) const {
  existing("assign"), other.existing("assign");
  if (requires_grad()) {  // its gradient, and whoever trains it, keep to the shape
    require<ShapeError>(other.shape() == shape(),
                        "assign: a tensor {} that requires a gradient cannot become {}", shape(),
                        other.shape());
    require<DTypeError>(other.dtype() == dtype(), "assign: {} that requires a gradient cannot become {}",
                        name_of(dtype()), name_of(other.dtype()));
  }
  data_->storage = other.data_->storage;
  data_->offset = other.data_->offset;
  data_->shape = other.data_->shape;
  data_->strides = other.data_->strides;
  data_->dtype = other.data_->dtype;
}

void Tensor::check_dtype(DType wanted) const {
  require<DTypeError>(dtype() == wanted, "the tensor holds {}, asked for as {}", name_of(dtype()),
                      name_of(wanted));
}

namespace {

/// Copies strided elements of `size` bytes to a row-major block.
void gather(char*& target, const char* source, size_t size, const Shape& shape, const Strides& strides,
            int axis) {
  if (axis == shape.rank()) {
    std::memcpy(target, source, size);
    target += size;
    return;
  }
  for (int64_t i = 0; i < shape[axis]; ++i)
    gather(target, source + i * strides[axis] * int64_t(size), size, shape, strides, axis + 1);
}

}  // namespace

bool Tensor::may_be_read() const {
  return symbolic_since == kNotSymbolic || data_->storage->number() >= symbolic_since;
}

void Tensor::copy_to_host(void* target) const {
  require<RecordingError>(is_symbolic() || may_be_read(),
                          "the value of a tensor {} was read by a compiled function while it is recorded: it "
                          "would stay fixed in the program, though the tensor may change between calls. Use "
                          "the tensor in ops, or read it outside of the function",
                          shape());
  size_t size = size_of(dtype());
  Runtime& device_runtime = runtime(device());
  if (numel() == 0) return;
  if (is_contiguous()) return device_runtime.copy_to_host(target, raw(), size_t(numel()) * size);
  std::vector<char> block(size_t(reach(shape(), strides())) * size);
  device_runtime.copy_to_host(block.data(), raw(), block.size());
  char* cursor = static_cast<char*>(target);
  gather(cursor, block.data(), size, shape(), strides(), 0);
}

std::vector<double> Tensor::to_doubles() const {
  existing("to_doubles");
  return with_type(dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<char> bytes(size_t(numel()) * sizeof(T));
    copy_to_host(bytes.data());
    std::vector<double> values(numel());
    for (size_t i = 0; i < values.size(); ++i) {
      T value;
      std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
      values[i] = double(value);
    }
    return values;
  });
}

std::vector<bool> Tensor::to_bools() const {
  std::vector<bool> flags;
  for (double value : to_doubles()) flags.push_back(value != 0);
  return flags;
}

double Tensor::item() const {
  existing("item");
  require<ShapeError>(numel() == 1, "item() needs one element, the tensor has shape {}", shape());
  return to_doubles()[0];
}

std::string Tensor::to_string() const {
  if (!defined()) return "Tensor (undefined)";
  if (is_symbolic())
    return fmt::format("Tensor {} {} {} (recorded: {})", name_of(dtype()), shape(), device(),
                       data_->storage->origin());
  std::string text = fmt::format("Tensor {} {} {}", name_of(dtype()), treadle::to_string(shape()),
                                 treadle::to_string(device()));
  if (numel() > 100 || !may_be_read()) return text;
  text += " {";
  for (double value : to_doubles()) text += fmt::format(" {:.6g}", value);
  return text + " }";
}

}  // namespace treadle
