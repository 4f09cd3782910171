#include "treadle/formats/npy.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "treadle/core/error.h"
#include "treadle/formats/file.h"
#include "treadle/formats/npy_bytes.h"
#include "treadle/formats/npy_header.h"
#include "treadle/formats/tensor_bytes.h"

namespace treadle {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kAlignment = 64;  ///< of the data, as NumPy aligns it

/// The dictionary, of which version 1 says the length in two bytes and later ones in four, and the data.
struct Parts {
  std::string_view header;
  std::span<const std::byte> data;
};

Parts parts_of(std::span<const std::byte> bytes, std::string_view file) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  require<FormatError>(text.starts_with(kMagic), "{}: does not begin as an .npy file, with \\x93NUMPY", file);
  require<FormatError>(text.size() >= 12, "{}: {} bytes are too few for an .npy file; it is cut short", file,
                       text.size());
  const int major = uint8_t(text[6]), minor = uint8_t(text[7]);
  require<FormatError>(major >= 1 && major <= 3 && minor == 0,
                       "{}: has version {}.{} of the .npy format, 1.0, 2.0 and 3.0 are read", file, major,
                       minor);
  const size_t length_bytes = major == 1 ? 2 : 4, begin = 8 + length_bytes;
  uint32_t length = 0;
  std::memcpy(&length, text.data() + 8, length_bytes);
  require<FormatError>(length <= text.size() - begin,
                       "{}: the header claims {} bytes, {} are left in the file; it is cut short", file,
                       length, text.size() - begin);
  return {text.substr(begin, length), bytes.subspan(begin + length)};
}

/// Bytes of the elements, which must be the rest of the file.
void check_size(const NpyHeader& header, size_t found, std::string_view file) {
  int64_t bound = int64_t(size_of(header.dtype));
  bool overflows = false;
  for (int64_t extent : header.shape)
    overflows |= __builtin_mul_overflow(bound, std::max<int64_t>(extent, 1), &bound);
  require<FormatError>(!overflows, "{}: the array has shape {}, whose size overflows", file, header.shape);
  const uint64_t needed = uint64_t(header.shape.numel()) * size_of(header.dtype);
  require<FormatError>(needed == found,
                       "{}: an array of {} {} takes {} bytes, the file has {} behind its header", file,
                       name_of(header.dtype), header.shape, needed, found);
}

/// The first axis varies fastest.
Strides fortran_strides(const Shape& shape) {
  Strides strides;
  int64_t step = 1;
  for (int64_t extent : shape) {
    strides.push_back(step);
    step *= std::max<int64_t>(extent, 1);
  }
  return strides;
}

void swap_bytes(std::span<std::byte> bytes, size_t size) {
  for (size_t i = 0; i < bytes.size(); i += size)
    std::reverse(bytes.begin() + int64_t(i), bytes.begin() + int64_t(i + size));
}

}  // namespace

Tensor parse_npy(std::span<const std::byte> bytes, std::string_view file) {
  const auto [text, data] = parts_of(bytes, file);
  const NpyHeader header = parse_npy_header(text, file);
  check_size(header, data.size(), file);
  Tensor tensor = header.fortran_order
                      ? Tensor::empty_strided(header.shape, fortran_strides(header.shape), header.dtype, kCpu)
                      : Tensor::empty(header.shape, header.dtype);
  const std::span target(static_cast<std::byte*>(tensor.raw()), data.size());
  if (!data.empty()) std::memcpy(target.data(), data.data(), data.size());
  if (header.big_endian) swap_bytes(target, size_of(header.dtype));
  const int64_t wrong = header.dtype == DType::boolean ? first_that_is_no_bool(target) : -1;
  require<FormatError>(wrong < 0, "{}: the array is of bools, its element {} is neither 0 nor 1", file,
                       wrong);
  return tensor;
}

Tensor load_npy(const std::filesystem::path& path) { return parse_npy(read_file(path), path.string()); }

std::string npy_head(const Tensor& tensor) {
  std::string header = compose_npy_header(tensor.dtype(), tensor.shape());
  const size_t used = kMagic.size() + 4 + header.size() + 1;
  header.append((kAlignment - used % kAlignment) % kAlignment, ' ');
  header += '\n';
  const uint16_t length = uint16_t(header.size());
  std::string head(kMagic);
  head += {'\x01', '\x00', char(length & 0xff), char(length >> 8)};
  return head + header;
}

void save_npy(const std::filesystem::path& path, const Tensor& tensor) {
  require<ValueError>(tensor.defined(), "an undefined tensor cannot be saved in {}", path.string());
  write_file_atomically(path, [&](FileWriter& writer) {
    writer.write(npy_head(tensor));
    visit_row_major_bytes(tensor, [&](std::span<const std::byte> bytes) { writer.write(bytes); });
  });
}

}  // namespace treadle
