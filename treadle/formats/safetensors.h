/// Reading and writing safetensors files (https://github.com/huggingface/safetensors, "Format").
#pragma once  // public

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "treadle/core/export.h"
#include "treadle/core/tensor.h"

namespace treadle {

/// One named tensor of a file.
struct SafetensorsEntry {
  std::string name;
  Tensor tensor;
};

/// The tensors, on the CPU and in the order of the header, and the `__metadata__` strings.
struct TREADLE_API SafetensorsFile {
  std::vector<SafetensorsEntry> entries;
  std::map<std::string, std::string> metadata;

  /// The tensor of that name, or null.
  const Tensor* find(std::string_view name) const;
};

/// Reads a file. Dtypes: F32 F64 F16 BF16 I8 U8 I16 I32 I64 BOOL; at most 8 axes. Everything the header says
/// is checked against the length of the file before a tensor is allocated. Throws FileError, FormatError.
TREADLE_API SafetensorsFile load_safetensors(const std::filesystem::path& path);

/// The same from memory; `name` stands for the path in messages. Throws FormatError.
TREADLE_API SafetensorsFile parse_safetensors(std::span<const std::byte> bytes,
                                              std::string_view name = "safetensors data");

/// Writes a file atomically (see write_file_atomically). The header lists the entries in the given order;
/// their data lie by falling element size, so that each is aligned. Tensors may be on any device and strided.
/// Throws FileError, and ValueError for a name that is twice there, reserved or not UTF-8, and for undefined
/// tensors.
TREADLE_API void save_safetensors(const std::filesystem::path& path,
                                  std::span<const SafetensorsEntry> entries,
                                  const std::map<std::string, std::string>& metadata = {});

}  // namespace treadle
