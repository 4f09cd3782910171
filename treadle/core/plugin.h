/// Plugins: libraries of Treadle's own, libtreadle-NAME.so, that are opened at run time, so that programs
/// start where what a plugin needs is absent. Nothing links one.
#pragma once

#include <string>
#include <vector>

#include "treadle/core/export.h"

namespace treadle {

/// A plugin that was asked for.
struct Plugin {
  std::string name;
  std::string file;             ///< the file that was opened, or should have been; empty where none was found
  const void* table = nullptr;  ///< what it offers; null when it cannot be used
  std::string absence;          ///< why it cannot be used; empty when it can
};

/// The plugin of that name, opened at the first call; it stays open, and the reference valid, until the
/// process ends. It is searched in $TREADLE_PLUGINS, beside the program and the library, and in lib/treadle
/// of where they are installed. The first file that exists decides, so that a broken plugin is reported and
/// not passed over. It must export
///
///     const void* treadle_NAME_api(int version)
///
/// which returns null for another version than its own.
const Plugin& open_plugin(const std::string& name, int version);

/// Those that have been asked for, by name.
TREADLE_API std::vector<Plugin> known_plugins();

}  // namespace treadle
