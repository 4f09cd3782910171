#include "treadle/core/shared_library.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

namespace treadle {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> folders_of_environment() {
  const char* value = std::getenv("TREADLE_LIBRARY_PATH");
  std::vector<std::string> folders;
  std::istringstream stream(value ? value : "");
  for (std::string folder; std::getline(stream, folder, ':');)
    if (!folder.empty()) folders.push_back(folder);
  return folders;
}

/// `folder`, and the folders beneath it that hold libraries, in the order of their names.
std::vector<fs::path> library_folders(const fs::path& folder) {
  std::vector<fs::path> found{folder / "lib", folder / "lib64"};
  std::error_code ignored;
  for (fs::directory_iterator entry(folder, ignored), end; !ignored && entry != end; entry.increment(ignored))
    found.push_back(entry->path() / "lib");
  std::sort(found.begin() + 2, found.end());
  found.insert(found.begin(), folder);
  return found;
}

/// Files of that name, those in earlier folders first.
std::vector<std::string> files_named(const std::string& name, const std::vector<std::string>& folders) {
  std::vector<std::string> files;
  std::error_code ignored;
  for (const std::string& folder : folders)
    for (const fs::path& place : library_folders(folder))
      if (fs::exists(place / name, ignored)) files.push_back(place / name);
  return files;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

bool SharedLibrary::try_open(const std::string& path) {
  handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  return handle_ != nullptr;
}

SharedLibrary SharedLibrary::open(const std::vector<std::string>& names,
                                  const std::vector<std::string>& folders) {
  SharedLibrary library;
  std::string broken;
  const auto wanted = folders_of_environment();
  // A file that is there and does not open explains more than one that was not found.
  auto opens_one_of = [&](const std::vector<std::string>& files) {
    for (const std::string& file : files) {
      if (library.try_open(file)) return true;
      if (const char* reason = dlerror(); reason && broken.empty()) broken = reason;
    }
    return false;
  };
  for (const std::string& name : names)
    if (opens_one_of(files_named(name, wanted))) return library;
  for (const std::string& name : names)
    if (library.try_open(name)) return library;
  for (const std::string& name : names)
    if (opens_one_of(files_named(name, folders))) return library;
  library.absence_ =
      broken.empty() ? fmt::format("{} not found; TREADLE_LIBRARY_PATH can name its folder", joined(names))
                     : fmt::format("cannot be opened: {}", broken);
  return library;
}

void* SharedLibrary::address_of(const char* name) {
  void* address = handle_ ? dlsym(handle_, name) : nullptr;
  if (!address && absence_.empty())
    absence_ = fmt::format("has no function {}: another version is needed", name);
  if (!address) handle_ = nullptr;
  return address;
}

}  // namespace treadle
