# Writes registry.cpp: the calls that register every op, variant, engine and device, from the folders as they are.
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

function(write_registration file source_folder)
  ops_in(ops ${source_folder}/ops cpp)
  ops_in(kernels ${source_folder}/ops cu)
  append_calls(ops ${ops})
  append_calls(simt ${kernels})
  file(GLOB engines RELATIVE ${source_folder}/engines CONFIGURE_DEPENDS ${source_folder}/engines/*)
  set(engine_folders engines/onednn)
  if(TREADLE_CUDA)
    append_calls(cuda ${kernels})
    list(APPEND engine_folders cuda/cublas cuda/cudnn)
  endif()
  foreach(folder ${engine_folders})
    get_filename_component(engine ${folder} NAME)
    names_in(names ${source_folder}/${folder}/*.cpp)
    append_calls(${engine} ${names})
  endforeach()
  string(APPEND declarations "namespace cpu { void limit_dispatch(); }\n")
  string(APPEND calls "    cpu::limit_dispatch();\n")
  set(devices simt)
  if(TREADLE_CUDA)
    list(APPEND devices cuda)
  endif()
  foreach(device ${devices})
    string(APPEND declarations "namespace ${device} { void register_device(); }\n")
    string(APPEND calls "    ${device}::register_device();\n")
  endforeach()
  file(CONFIGURE OUTPUT ${file} CONTENT [[// Generated from the source folders.
#include <mutex>

#include "treadle/core/runtime.h"
#include "treadle/graph/registry.h"

namespace treadle {
@declarations@
void register_everything() {
  static std::once_flag once;
  std::call_once(once, [] {
    Registry& registry = detail::mutable_registry();
@calls@    registry.finish();
  });
}

}  // namespace treadle
]] @ONLY)
endfunction()
