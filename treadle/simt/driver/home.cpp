#include "treadle/simt/driver/home.h"

#include <string>
#include <vector>

#include "treadle/core/error.h"

namespace treadle::simt::driver {
namespace {

constexpr const char* kHeader = "treadle/simt/program.h";
constexpr const char* kLibrary = "libtreadle_simt.a";

std::vector<Home> places(const std::filesystem::path& program) {
  const std::filesystem::path folder = program.parent_path(), prefix = folder.parent_path();
  return {{folder / "simt/include", folder / "simt/lib"},
          {prefix / "include", prefix / TREADLE_LIBRARY_FOLDER},
          {prefix / "include", prefix / "lib"}};
}

}  // namespace

Home find_home() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::canonical("/proc/self/exe", error);
  std::string looked;
  for (const Home& home : places(program)) {
    if (exists(home.headers / kHeader, error) && exists(home.libraries / kLibrary, error)) return home;
    looked += fmt::format("{}{} with {}", looked.empty() ? "" : ", ", (home.headers / kHeader).string(),
                          (home.libraries / kLibrary).string());
  }
  throw FileError("what CUDA programs are built with is not installed; looked for " + looked);
}

}  // namespace treadle::simt::driver
