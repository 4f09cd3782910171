# Writes the calls that register what lies in folders of its own, from the folders as they are: ops, variants, rules, engines and
# devices in registry.cpp for the library, and a file of that kind for each plugin that brings a device; data sets, models
# and the program's subcommands in a file for each kind.
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

# paths_in(RESULT FOLDER EXTENSION BLOCKS): the files below FOLDER, from there and without extension, sorted. Building blocks
# are left out: where the path matches BLOCKS, files that have headers of their own.
function(paths_in result folder extension blocks)
  file(GLOB_RECURSE files RELATIVE ${folder} CONFIGURE_DEPENDS ${folder}/*.${extension})
  file(GLOB_RECURSE headers RELATIVE ${folder} CONFIGURE_DEPENDS ${folder}/*.h)
  set(paths)
  foreach(file ${files})
    string(REGEX REPLACE "[.][a-z]+$" "" path ${file})
    if(NOT (path MATCHES "${blocks}" AND "${path}.h" IN_LIST headers))
      list(APPEND paths ${path})
    endif()
  endforeach()
  list(SORT paths)
  set(${result} ${paths} PARENT_SCOPE)
endfunction()

# ops_in(RESULT FOLDER EXTENSION): names of the files below FOLDER that register ops or variants; what variants and declarations
# share is in cpu/ and declaration/, with headers. A file directly in a
# family is named as in names_in, one deeper after its path: conv2d_cpu_direct.
function(ops_in result folder extension)
  paths_in(names ${folder} ${extension} "/(cpu|declaration)/")
  list(TRANSFORM names REPLACE "^[^/]+/([^/]+)$" "\\1")
  list(TRANSFORM names REPLACE "/" "_")
  list(SORT names)
  set(${result} ${names} PARENT_SCOPE)
endfunction()

# generate_sources(FOLDER): what families make of their own files. A family's NAME.cmake appends to `generated_sources` of the
# caller, to the global properties TREADLE_GENERATED_KERNELS and TREADLE_GENERATED_KERNEL_GROUPS (its .cu files, and the same in
# fewer files), and names what they register to `generated_ops`, `generated_variants` and `generated_kernels`.
macro(generate_sources folder)
  file(GLOB generators CONFIGURE_DEPENDS ${folder}/*/*.cmake)
  foreach(generator ${generators})
    include(${generator})
  endforeach()
endmacro()

# kernel_sources(RESULT KERNELS|KERNEL_GROUPS): all .cu files of ops, those that are generated in the form asked for.
function(kernel_sources result form)
  file(GLOB_RECURSE kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/treadle/ops/*.cu)
  get_property(generated GLOBAL PROPERTY TREADLE_GENERATED_${form})
  set(${result} ${kernels} ${generated} PARENT_SCOPE)
endfunction()

# append_calls(TYPE NAMESPACE NAME…): adds declarations and calls of NAMESPACE::register_NAME(TYPE&) to the caller's
# variables.
macro(append_calls type namespace)
  foreach(name ${ARGN})
    string(APPEND declarations "namespace ${namespace} { void register_${name}(${type}&); }\n")
    string(APPEND calls "    ${namespace}::register_${name}(registry);\n")
  endforeach()
endmacro()

# append_kernels(TARGET DEVICE SOURCE_FOLDER): those of all .cu files in the namespace of TARGET, and DEVICE.
macro(append_kernels target device source_folder)
  ops_in(kernels ${source_folder}/ops cu)
  append_calls(Registry ${target} ${kernels} ${generated_kernels})
  string(APPEND declarations "namespace ${device} { void register_device(); }\n")
  string(APPEND calls "    ${device}::register_device();\n")
endmacro()

# rules_in(RESULT SOURCE_FOLDER): the rules of optimizers: the folders of optim/.
function(rules_in result source_folder)
  file(GLOB files RELATIVE ${source_folder}/optim CONFIGURE_DEPENDS ${source_folder}/optim/*/*.cpp)
  set(names)
  foreach(file ${files})
    get_filename_component(name ${file} DIRECTORY)
    list(APPEND names ${name})
  endforeach()
  list(REMOVE_DUPLICATES names)
  list(SORT names)
  set(${result} ${names} PARENT_SCOPE)
endfunction()

# append_engines(FOLDER): those of all files in the folders of FOLDER, each of which is a library's and a namespace.
macro(append_engines folder)
  file(GLOB engines RELATIVE ${folder} CONFIGURE_DEPENDS ${folder}/*)
  foreach(engine ${engines})
    names_in(names ${folder}/${engine}/*.cpp)
    append_calls(Registry ${engine} ${names})
  endforeach()
endmacro()

# write_plugin_registration(FILE TARGET SOURCE_FOLDER): what libtreadle-TARGET.so brings, from the folder of that name.
function(write_plugin_registration file target source_folder)
  append_kernels(${target} ${target} ${source_folder})
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

# write_registration(FILE SOURCE_FOLDER TARGET): the library's, with the kernels of namespace TARGET on the device simt.
function(write_registration file source_folder target)
  rules_in(rules ${source_folder})  # first: ops are made of them
  foreach(rule ${rules})
    string(APPEND declarations "namespace rules { void register_${rule}(); }\n")
    string(APPEND calls "    rules::register_${rule}();\n")
  endforeach()
  ops_in(ops ${source_folder}/ops cpp)
  append_calls(Registry ops ${ops} ${generated_ops} ${generated_variants})
  append_kernels(${target} simt ${source_folder})
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

# write_calls(FILE HEADER TYPE NAMESPACE NAME…): the file that defines NAMESPACE::register_all(TYPE&), which calls
# NAMESPACE::register_NAME(TYPE&) for each name. HEADER declares TYPE.
function(write_calls file header type namespace)
  append_calls(${type} ${namespace} ${ARGN})
  file(CONFIGURE OUTPUT ${file} CONTENT [[// Generated from the source folders.
#include "@header@"

namespace treadle {
@declarations@
namespace @namespace@ {

void register_all(@type@& registry) {
@calls@}

}  // namespace @namespace@
}  // namespace treadle
]] @ONLY)
endfunction()
