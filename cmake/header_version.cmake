# cmake -D OUTPUT=FILE -D FOLDERS=… -D COMPILER=… -P header_version.cmake: writes a source file that holds a number made of
# the headers in FOLDERS and of COMPILER. Two libraries with the same number understand one another's C++ types.
set(text ${COMPILER})
foreach(folder ${FOLDERS})
  file(GLOB_RECURSE headers ${folder}/*.h)
  list(SORT headers)
  foreach(header ${headers})
    file(SHA256 ${header} hash)
    cmake_path(GET header FILENAME name)
    string(APPEND text " ${name} ${hash}")
  endforeach()
endforeach()
string(SHA256 hash "${text}")
string(SUBSTRING ${hash} 0 7 hash)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[// Generated from the headers.
#include "treadle/graph/device_plugin.h"

namespace treadle {

int device_plugin_version() { return 0x@hash@; }

}  // namespace treadle
]] @ONLY)
