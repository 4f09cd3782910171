# Writes the calls that register every op, variant, engine and device, from the folders as they are: registry.cpp for the
# library, and a file of that kind for each plugin that brings a device.
# A static object per file would be simpler and is dropped silently when the library is linked statically.

# names_in(RESULT PATTERN…): file names without extension, sorted.
function(names_in result)
  file(GLOB files CONFIGURE_DEPENDS ${ARGN})
  set(names)
  foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    list(APPEND names ${name})
  endforeach()
  list(SORT names)
  set(${result} ${names} PARENT_SCOPE)
endfunction()

# ops_in(RESULT FOLDER EXTENSION): the same for the files below FOLDER that register ops or variants. A file directly in a
# family is named as in names_in, one deeper after its path: conv2d_cpu_direct. Beside cpu variants lie building blocks,
# which have headers of their own; they register nothing.
function(ops_in result folder extension)
  file(GLOB_RECURSE files RELATIVE ${folder} CONFIGURE_DEPENDS ${folder}/*.${extension})
  file(GLOB_RECURSE headers RELATIVE ${folder} CONFIGURE_DEPENDS ${folder}/*.h)
  set(names)
  foreach(file ${files})
    string(REGEX REPLACE "[.][a-z]+$" "" path ${file})
    if(path MATCHES "/cpu/" AND "${path}.h" IN_LIST headers)
      continue()
    endif()
    string(REGEX REPLACE "^[^/]+/([^/]+)$" "\\1" name ${path})
    string(REPLACE "/" "_" name ${name})
    list(APPEND names ${name})
  endforeach()
  list(SORT names)
  set(${result} ${names} PARENT_SCOPE)
endfunction()

# append_calls(NAMESPACE NAME…): adds declarations and calls of NAMESPACE::register_NAME to the caller's variables.
macro(append_calls namespace)
  foreach(name ${ARGN})
    string(APPEND declarations "namespace ${namespace} { void register_${name}(Registry&); }\n")
    string(APPEND calls "    ${namespace}::register_${name}(registry);\n")
  endforeach()
endmacro()

# append_kernels(TARGET SOURCE_FOLDER): those of all .cu files in the namespace of TARGET, and TARGET's device.
macro(append_kernels target source_folder)
  ops_in(kernels ${source_folder}/ops cu)
  append_calls(${target} ${kernels})
  string(APPEND declarations "namespace ${target} { void register_device(); }\n")
  string(APPEND calls "    ${target}::register_device();\n")
endmacro()

# append_engines(FOLDER): those of all files in the folders of FOLDER, each of which is a library's and a namespace.
macro(append_engines folder)
  file(GLOB engines RELATIVE ${folder} CONFIGURE_DEPENDS ${folder}/*)
  foreach(engine ${engines})
    names_in(names ${folder}/${engine}/*.cpp)
    append_calls(${engine} ${names})
  endforeach()
endmacro()

# write_plugin_registration(FILE TARGET SOURCE_FOLDER): what libtreadle-TARGET.so brings, from the folder of that name.
function(write_plugin_registration file target source_folder)
  append_kernels(${target} ${source_folder})
  append_engines(${source_folder}/${target})
  file(CONFIGURE OUTPUT ${file} CONTENT [[// Generated from the source folders.
#include "treadle/graph/registry.h"

namespace treadle {
@declarations@
namespace @target@ {

void register_everything(Registry& registry) {
@calls@}

}  // namespace @target@
}  // namespace treadle
]] @ONLY)
endfunction()

function(write_registration file source_folder)
  ops_in(ops ${source_folder}/ops cpp)
  append_calls(ops ${ops})
  append_kernels(simt ${source_folder})
  append_engines(${source_folder}/engines)
  string(APPEND declarations "namespace cpu { void limit_dispatch(); }\n")
  string(APPEND calls "    cpu::limit_dispatch();\n")
  file(CONFIGURE OUTPUT ${file} CONTENT [[// Generated from the source folders.
#include <mutex>

#include "treadle/core/runtime.h"
#include "treadle/graph/device_plugin.h"
#include "treadle/graph/registry.h"

namespace treadle {
@declarations@
void register_everything() {
  static std::once_flag once;
  std::call_once(once, [] {
    Registry& registry = detail::mutable_registry();
@calls@    open_device_plugins(registry);
    registry.finish();
  });
}

}  // namespace treadle
]] @ONLY)
endfunction()
