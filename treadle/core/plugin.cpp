#include "treadle/core/plugin.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>

namespace treadle {
namespace {

namespace fs = std::filesystem;

/// The folder of the file that holds this code: the library, or the program it was linked into.
fs::path folder_of_this_code() {
  static const char here = 0;
  Dl_info info{};
  if (!dladdr(&here, &info) || !info.dli_fname) return {};
  return fs::path(info.dli_fname).parent_path();
}

fs::path folder_of_program() {
  std::error_code failure;
  return fs::read_symlink("/proc/self/exe", failure).parent_path();
}

std::vector<fs::path> folders() {
  std::vector<fs::path> list;
  auto add = [&](const fs::path& folder) {
    if (std::find(list.begin(), list.end(), folder) == list.end()) list.push_back(folder);
  };
  if (const char* folder = std::getenv("TREADLE_PLUGINS"); folder && *folder) add(folder);
  for (const auto& folder : {folder_of_program(), folder_of_this_code()}) {
    if (!folder.is_absolute())
      continue;  // unknown, or how the program was called: not a place to load code from
    add(folder);
    add(folder.parent_path());
    add(folder / "treadle");
    for (const char* libraries : {"lib", TREADLE_LIBRARY_FOLDER})
      add(folder.parent_path() / libraries / "treadle");
  }
  return list;
}

void open_file(Plugin& plugin, int version) {
  void* library = dlopen(plugin.file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    plugin.absence = fmt::format("cannot be opened: {}", dlerror());
    return;
  }
  const std::string entry = fmt::format("treadle_{}_api", plugin.name);
  auto* table_of = reinterpret_cast<const void* (*)(int)>(dlsym(library, entry.c_str()));
  if (table_of) plugin.table = table_of(version);
  if (!plugin.table)
    plugin.absence = fmt::format("{} {}", plugin.file,
                                 table_of ? "was built for another version of Treadle than this one"
                                          : "is no plugin of Treadle's: it has no " + entry);
}

Plugin search(const std::string& name, int version) {
  Plugin plugin;
  plugin.name = name;
  const std::string file = fmt::format("libtreadle-{}.so", name);
  std::string searched;
  for (const fs::path& folder : folders()) {
    std::error_code failure;
    if (fs::exists(folder / file, failure)) {
      plugin.file = folder / file;
      open_file(plugin, version);
      return plugin;
    }
    searched.append(" ").append(folder);
  }
  plugin.absence = fmt::format("{} was not found in:{}", file, searched);
  return plugin;
}

struct Known {
  std::mutex mutex;
  std::map<std::string, Plugin> by_name;
};

/// Never destroyed: what a plugin offers is used until the process ends.
Known& known() {
  static Known& all = *new Known;
  return all;
}

}  // namespace

const Plugin& open_plugin(const std::string& name, int version) {
  const std::lock_guard lock(known().mutex);
  auto found = known().by_name.find(name);
  if (found == known().by_name.end()) found = known().by_name.emplace(name, search(name, version)).first;
  return found->second;
}

std::vector<Plugin> known_plugins() {
  const std::lock_guard lock(known().mutex);
  std::vector<Plugin> list;
  for (const auto& [name, plugin] : known().by_name) list.push_back(plugin);
  return list;
}

}  // namespace treadle
