#include "treadle/simt/driver/refused_headers.h"

#include <algorithm>
#include <filesystem>
#include <regex>

#include "treadle/simt/driver/source.h"

namespace treadle::simt::driver {
namespace {

struct Library {
  std::string_view name;
  std::string_view begin;  ///< of its headers' names, or the folder that they lie in
};

// thrust and cub need their own launch machinery, the others a GPU's code.
constexpr Library kLibraries[] = {
    {"cuBLAS", "cublas"},   {"cuSPARSE", "cusparse"}, {"cuSOLVER", "cusolver"}, {"cuFFT", "cufft"},
    {"cuRAND", "curand"},   {"cuDNN", "cudnn"},       {"cuTENSOR", "cutensor"}, {"NCCL", "nccl"},
    {"NVRTC", "nvrtc"},     {"NPP", "npp"},           {"NVML", "nvml"},         {"nvJPEG", "nvjpeg"},
    {"Thrust", "thrust/"},  {"CUB", "cub/"},          {"CUTLASS", "cutlass/"},  {"CuTe", "cute/"},
    {"NVSHMEM", "nvshmem"}, {"OptiX", "optix"},       {"cuFile", "cufile"},     {"CUPTI", "cupti"},
};

[[noreturn]] void refuse(const std::string& place, const std::string& header, const std::string& library) {
  throw SourceError(
      fmt::format("{}: {} belongs to {}, which is not there: programs that need a library of the "
                  "CUDA toolkit are not supported",
                  place, header, library));
}

/// The file that a line marker enters; empty for other lines. `# 1 "file" 1 3`
std::string_view entered_file(std::string_view line) {
  if (!line.starts_with("# 1 \"")) return "";
  const size_t end = line.find('"', 5);
  if (end == std::string_view::npos || !line.substr(end + 1).starts_with(" 1")) return "";
  return line.substr(5, end - 5);
}

}  // namespace

std::string library_of_header(std::string_view header) {
  for (const Library& library : kLibraries) {
    const bool folder = library.begin.ends_with('/');
    for (size_t at = header.find(library.begin); at != std::string_view::npos;
         at = header.find(library.begin, at + 1)) {
      const bool begins_name = at == 0 || header[at - 1] == '/';
      const bool is_last = header.find('/', at) == std::string_view::npos;
      if (begins_name && (folder || is_last)) return std::string(library.name);
    }
  }
  return "";
}

void refuse_included_libraries(std::string_view preprocessed) {
  for (size_t begin = 0; begin < preprocessed.size();) {
    const size_t end = std::min(preprocessed.find('\n', begin), preprocessed.size());
    const std::string_view file = entered_file(preprocessed.substr(begin, end - begin));
    // Before its first line break stands the line that includes it.
    if (const std::string library = library_of_header(file); !library.empty()) {
      const SourcePlace place = place_of(preprocessed, begin);
      refuse(fmt::format("{}:{}", place.file, place.line), std::filesystem::path(file).filename().string(),
             library);
    }
    begin = end + 1;
  }
}

void refuse_missing_libraries(std::string_view messages) {
  static const std::regex kMissing("([^\\n]+:[0-9]+):[0-9]+: [^\\n]*: ([^:\\n]+): No such file");
  std::match_results<std::string_view::const_iterator> found;
  if (!std::regex_search(messages.begin(), messages.end(), found, kMissing)) return;
  const std::string library = library_of_header(found[2].str());
  if (!library.empty()) refuse(found[1].str(), found[2].str(), library);
}

}  // namespace treadle::simt::driver
