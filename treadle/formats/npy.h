/// NumPy's files of one array (.npy) and of several (.npz). Formats: NumPy's documentation,
/// "numpy.lib.format", versions 1.0, 2.0 and 3.0; zip after PKWARE's APPNOTE.
#pragma once  // public

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "treadle/core/export.h"
#include "treadle/core/tensor.h"

namespace treadle {

/// One array of an .npz file.
struct NamedArray {
  std::string name;
  Tensor array;
};

/// Reads an array to the CPU. Dtypes: f2 f4 f8 i1 u1 i2 i4 i8 b1 of either byte order, and V2, as which
/// ml_dtypes stores bfloat16. One in Fortran's order becomes a tensor with such strides. What the header says
/// is compared with the length of the file before the tensor is allocated. Python objects, which would have
/// to be unpickled, and structures are refused. Throws FileError, FormatError.
TREADLE_API Tensor load_npy(const std::filesystem::path& path);

/// The same from memory; `name` stands for the path in messages. Throws FormatError.
TREADLE_API Tensor parse_npy(std::span<const std::byte> bytes, std::string_view name = "npy data");

/// Writes a file of version 1.0 in C's order, atomically (see write_file_atomically); bf16 as V2. The tensor
/// may be on any device and strided. Throws FileError, ValueError for an undefined tensor.
TREADLE_API void save_npy(const std::filesystem::path& path, const Tensor& tensor);

/// Reads all arrays of a zip archive, in the order of its directory; members are stored or deflated, and
/// called NAME.npy. Sizes are checked before anything is unpacked, checksums afterwards. Throws FileError,
/// FormatError.
TREADLE_API std::vector<NamedArray> load_npz(const std::filesystem::path& path);

/// The same from memory. Throws FormatError.
TREADLE_API std::vector<NamedArray> parse_npz(std::span<const std::byte> bytes,
                                              std::string_view name = "npz data");

/// Writes the arrays to a zip archive, atomically; the same arrays give the same bytes. Throws FileError, and
/// ValueError for an undefined tensor, a name that is empty or there twice, and more than 4 GiB or 65,535
/// arrays.
TREADLE_API void save_npz(const std::filesystem::path& path, std::span<const NamedArray> arrays,
                          bool compressed = false);

/// The array of that name, or null.
TREADLE_API const Tensor* find_array(std::span<const NamedArray> arrays, std::string_view name);

}  // namespace treadle
