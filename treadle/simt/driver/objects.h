/// What the linker needs to know of object files.
#pragma once

#include <set>
#include <string>

namespace treadle::simt::driver {

/// The names of an object file's thread-local symbols.
struct ThreadLocals {
  std::set<std::string> defined, undefined;
};

/// Adds those of an ELF object of this machine. Throws FormatError for any other file.
void read_thread_locals(const std::string& object, ThreadLocals& names);

}  // namespace treadle::simt::driver
