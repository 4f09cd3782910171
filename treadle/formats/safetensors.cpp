#include "treadle/formats/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <numeric>
#include <unordered_set>

#include "treadle/core/error.h"
#include "treadle/formats/file.h"
#include "treadle/formats/safetensors_header.h"
#include "treadle/formats/tensor_bytes.h"

namespace treadle {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian and read as it lies");

constexpr uint64_t kLengthBytes = 8;

/// Fills a span with the bytes from an offset on: from a file or from memory.
using ReadAt = std::function<void(uint64_t offset, std::span<std::byte> target)>;

std::string read_header(const ReadAt& read_at, uint64_t file_bytes, std::string_view file) {
  require<FormatError>(file_bytes >= kLengthBytes,
                       "{}: {} bytes are too few for a safetensors file, which begins with 8", file,
                       file_bytes);
  uint64_t length = 0;
  read_at(0, std::as_writable_bytes(std::span(&length, 1)));
  require<FormatError>(
      length <= file_bytes - kLengthBytes,
      "{}: the header claims {} bytes, {} are left in the file; it is cut short or of another format", file,
      length, file_bytes - kLengthBytes);
  require<FormatError>(length <= kMaxSafetensorsHeader,
                       "{}: the header has {} bytes, more than the limit of {}", file, length,
                       kMaxSafetensorsHeader);
  std::string json(length, '\0');
  read_at(kLengthBytes, std::as_writable_bytes(std::span(json)));
  return json;
}

void check_bools(std::span<const std::byte> bytes, const DeclaredTensor& tensor, std::string_view file) {
  const int64_t wrong = first_that_is_no_bool(bytes);
  require<FormatError>(wrong < 0, "{}: tensor {} is BOOL, its element {} is neither 0 nor 1", file,
                       printable(tensor.name), wrong);
}

Tensor read_tensor(const ReadAt& read_at, uint64_t data_start, const DeclaredTensor& declared,
                   std::string_view file) {
  Tensor tensor = Tensor::empty(declared.shape, declared.dtype, kCpu);
  std::span bytes(static_cast<std::byte*>(tensor.raw()), declared.end - declared.begin);
  read_at(data_start + declared.begin, bytes);
  if (declared.dtype == DType::boolean) check_bools(bytes, declared, file);
  return tensor;
}

SafetensorsFile read_safetensors(const ReadAt& read_at, uint64_t file_bytes, std::string_view file) {
  std::string json = read_header(read_at, file_bytes, file);
  uint64_t data_start = kLengthBytes + json.size();
  SafetensorsHeader header = parse_safetensors_header(json, file_bytes - data_start, file);
  SafetensorsFile result;
  result.metadata = std::move(header.metadata);
  for (const auto& declared : header.tensors)
    result.entries.push_back({declared.name, read_tensor(read_at, data_start, declared, file)});
  return result;
}

void check_entries(std::span<const SafetensorsEntry> entries) {
  std::unordered_set<std::string_view> names;
  for (const auto& [name, tensor] : entries) {
    require<ValueError>(tensor.defined(), "tensor {} is undefined and cannot be saved", printable(name));
    require<ValueError>(name != "__metadata__",
                        "a tensor cannot be called __metadata__ in a safetensors file");
    require<ValueError>(names.insert(name).second, "two tensors to save are called {}", printable(name));
  }
}

/// Indices of the entries by falling element size, otherwise in the given order.
std::vector<size_t> data_order(std::span<const SafetensorsEntry> entries) {
  std::vector<size_t> order(entries.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return size_of(entries[a].tensor.dtype()) > size_of(entries[b].tensor.dtype());
  });
  return order;
}

SafetensorsHeader declare(std::span<const SafetensorsEntry> entries, std::span<const size_t> order) {
  SafetensorsHeader header;
  for (const auto& [name, tensor] : entries)
    header.tensors.push_back({name, tensor.dtype(), tensor.shape(), 0, 0});
  uint64_t offset = 0;
  for (size_t i : order) {
    DeclaredTensor& declared = header.tensors[i];
    declared.begin = offset;
    offset += uint64_t(declared.shape.numel()) * size_of(declared.dtype);
    declared.end = offset;
  }
  return header;
}

}  // namespace

const Tensor* SafetensorsFile::find(std::string_view name) const {
  for (const auto& entry : entries)
    if (entry.name == name) return &entry.tensor;
  return nullptr;
}

SafetensorsFile load_safetensors(const std::filesystem::path& path) {
  FileReader reader(path);
  auto read_at = [&](uint64_t offset, std::span<std::byte> target) { reader.read_at(offset, target); };
  return read_safetensors(read_at, reader.size(), path.string());
}

SafetensorsFile parse_safetensors(std::span<const std::byte> bytes, std::string_view name) {
  auto read_at = [&](uint64_t offset, std::span<std::byte> target) {
    if (!target.empty()) std::memcpy(target.data(), bytes.data() + offset, target.size());
  };
  return read_safetensors(read_at, bytes.size(), name);
}

void save_safetensors(const std::filesystem::path& path, std::span<const SafetensorsEntry> entries,
                      const std::map<std::string, std::string>& metadata) {
  check_entries(entries);
  std::vector<size_t> order = data_order(entries);
  SafetensorsHeader header = declare(entries, order);
  header.metadata = metadata;
  std::string json = compose_safetensors_header(header);
  uint64_t length = json.size();
  write_file_atomically(path, [&](FileWriter& writer) {
    writer.write(std::as_bytes(std::span(&length, 1)));
    writer.write(json);
    for (size_t i : order)
      visit_row_major_bytes(entries[i].tensor,
                            [&](std::span<const std::byte> bytes) { writer.write(bytes); });
  });
}

}  // namespace treadle
