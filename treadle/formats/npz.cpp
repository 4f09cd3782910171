#include <algorithm>
#include <unordered_set>

#include "treadle/core/error.h"
#include "treadle/formats/file.h"
#include "treadle/formats/npy.h"
#include "treadle/formats/npy_bytes.h"
#include "treadle/formats/safetensors_header.h"
#include "treadle/formats/tensor_bytes.h"
#include "treadle/formats/zip.h"

namespace treadle {
namespace {

constexpr std::string_view kSuffix = ".npy";

/// The array's name, which must be new.
std::string name_of_member(const ZipMember& member, std::span<const NamedArray> before,
                           std::string_view file) {
  require<FormatError>(member.name.ends_with(kSuffix), "{}: the member {} is no array NAME.npy", file,
                       printable(member.name));
  std::string name = member.name.substr(0, member.name.size() - kSuffix.size());
  require<FormatError>(!find_array(before, name), "{}: the array {} is there twice", file, printable(name));
  return name;
}

void check_arrays(std::span<const NamedArray> arrays) {
  std::unordered_set<std::string_view> names;
  for (const auto& [name, array] : arrays) {
    require<ValueError>(array.defined(), "array {} is undefined and cannot be saved", printable(name));
    require<ValueError>(!name.empty() && names.insert(name).second, "an array to save is called {}, {}",
                        printable(name), name.empty() ? "which is no name" : "as another one is");
  }
}

std::vector<std::byte> npy_bytes(const Tensor& tensor) {
  const std::string head = npy_head(tensor);
  const auto head_bytes = std::as_bytes(std::span(head));
  std::vector<std::byte> bytes(head_bytes.begin(), head_bytes.end());
  visit_row_major_bytes(
      tensor, [&](std::span<const std::byte> part) { bytes.insert(bytes.end(), part.begin(), part.end()); });
  return bytes;
}

}  // namespace

std::vector<NamedArray> parse_npz(std::span<const std::byte> bytes, std::string_view file) {
  std::vector<NamedArray> arrays;
  for (const ZipMember& member : zip_members(bytes, file)) {
    std::string name = name_of_member(member, arrays, file);
    const std::vector<std::byte> contents = unpack_member(bytes, member, file);
    arrays.push_back(
        {std::move(name), parse_npy(contents, fmt::format("{}, {}", file, printable(member.name)))});
  }
  return arrays;
}

std::vector<NamedArray> load_npz(const std::filesystem::path& path) {
  return parse_npz(read_file(path), path.string());
}

void save_npz(const std::filesystem::path& path, std::span<const NamedArray> arrays, bool compressed) {
  check_arrays(arrays);
  ZipWriter archive;
  for (const auto& [name, array] : arrays)
    archive.add(name + std::string(kSuffix), npy_bytes(array), compressed);
  const std::vector<std::byte> bytes = archive.finish();
  write_file_atomically(path, [&](FileWriter& writer) { writer.write(bytes); });
}

const Tensor* find_array(std::span<const NamedArray> arrays, std::string_view name) {
  auto found =
      std::find_if(arrays.begin(), arrays.end(), [&](const NamedArray& a) { return a.name == name; });
  return found == arrays.end() ? nullptr : &found->array;
}

}  // namespace treadle
