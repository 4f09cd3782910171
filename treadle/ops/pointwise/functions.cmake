# Writes, from the functions as they are, what the headers of functions/ need: source files with their ops (unless they are of two
# operands and written by hand, for their gradients), with their loops on the cpu and with their kernels, and in unary_functions.h
# the typed functions. Several headers share such files: a compiler takes longer to come to a function than for the function. With
# TREADLE_UNITY=OFF they share only those for nvcc, and who edits a function compiles no other.
set(folder ${CMAKE_CURRENT_LIST_DIR}/functions)
set(generated ${CMAKE_BINARY_DIR}/generated/treadle/ops/pointwise)
file(GLOB headers CONFIGURE_DEPENDS ${folder}/*.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})

# structs_of(RESULT KIND TEXT): names of the structs that derive from KINDFunction.
function(structs_of result kind text)
  string(REGEX MATCHALL "struct [A-Za-z0-9]+ : ${kind}Function" matches "${text}")
  list(TRANSFORM matches REPLACE "struct ([A-Za-z0-9]+) .*" "\\1")
  set(${result} ${matches} PARENT_SCOPE)
endfunction()

# typed_function(NAME STRUCT TEXT): the declarations and definitions that a unary function gets, added to the caller's
# variables. Its parameters are the options, in order; `kOwnTypedFunction` says that it is written by hand.
function(typed_function name struct text)
  string(REGEX MATCH "(///[^\n]*\n)*struct ${struct} " comment "${text}")
  string(REGEX REPLACE "struct ${struct} $" "" comment "${comment}")
  set(handles "TREADLE_API const Op& ${name}_op();\nTREADLE_API const Op& ${name}_gradient_op();\n")
  set(definitions [[
const Op& @name@_op() {
  static const Op& op = op_named("@name@");
  return op;
}
const Op& @name@_gradient_op() {
  static const Op& op = op_named("@name@_gradient");
  return op;
}
]])
  if(NOT text MATCHES "kOwnTypedFunction")
    string(REGEX MATCHALL "\n  (double|bool|int64_t) [a-z_0-9]+ = [^\n]+;" members "${text}")
    set(parameters "const Tensor& x")
    set(names "const Tensor& x")
    foreach(member ${members})
      string(REGEX REPLACE "^\n +(.*)$" "\\1" member "${member}")
      string(APPEND parameters ", ${member}")
      string(REGEX REPLACE " = .*" "" member "${member}")
      string(APPEND names ", ${member}")
      string(REGEX REPLACE "^[^ ]+ " "" member "${member}")
      string(APPEND assignments "  f.${member} = ${member};\n")
    endforeach()
    set(handles "${comment}TREADLE_API Tensor ${name}(${parameters})\\;\n${handles}")
    string(APPEND definitions [[
Tensor @name@(@names@) {
  functions::@struct@ f;
@assignments@  return pointwise::apply_unary(@name@_op(), x, f);
}
]])
  endif()
  string(REPLACE "\\;" ";" handles "${handles}")
  string(CONFIGURE "${definitions}" definitions @ONLY)
  set(declared "${declared}${handles}" PARENT_SCOPE)
  set(definitions "${definitions}" PARENT_SCOPE)
endfunction()

# lines_of(RESULT PREFIX STEM…): the caller's PREFIX_STEM variables, one behind the other.
function(lines_of result prefix)
  set(text)
  foreach(stem ${ARGN})
    string(APPEND text "${${prefix}_${stem}}")
  endforeach()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# function_kernels(FILE STEM…): the kernels of these headers.
function(function_kernels file)
  lines_of(includes include ${ARGN})
  lines_of(registrations kernels_of ${ARGN})
  file(CONFIGURE OUTPUT ${file} CONTENT [[// Generated from treadle/ops/pointwise/functions.
#include "treadle/ops/pointwise/cuda/function_kernels.cuh"
@includes@
namespace treadle::TREADLE_TARGET {
@registrations@
}  // namespace treadle::TREADLE_TARGET
]] @ONLY)
endfunction()

# function_loops(FILE STEM…): their loops on the cpu.
function(function_loops file)
  lines_of(includes include ${ARGN})
  lines_of(registrations loops_of ${ARGN})
  file(CONFIGURE OUTPUT ${file} CONTENT [[// Generated from treadle/ops/pointwise/functions.
#include "treadle/ops/pointwise/cpu/function_rows.h"
@includes@
namespace treadle::ops {
@registrations@
}  // namespace treadle::ops
]] @ONLY)
endfunction()

# function_declarations(FILE STEM…): their ops and typed functions.
function(function_declarations file)
  lines_of(includes include ${ARGN})
  lines_of(registrations declarations_of ${ARGN})
  lines_of(definitions definitions_of ${ARGN})
  file(CONFIGURE OUTPUT ${file} CONTENT [[// Generated from treadle/ops/pointwise/functions.
@includes@#include "treadle/ops/pointwise/pointwise_op.h"
#include "treadle/ops/pointwise/unary_functions.h"

namespace treadle {
namespace ops {
@registrations@
}  // namespace ops
@definitions@
}  // namespace treadle
]] @ONLY)
endfunction()

# registration_of(VARIABLE NAME CALLS): a function register_NAME that makes these calls.
function(registration_of variable name calls)
  set(${variable} "\nvoid register_${name}(Registry& registry) {\n${calls}}\n" PARENT_SCOPE)
endfunction()

set(stems)
set(declared)
set(all_functions)
foreach(header ${headers})
  cmake_path(GET header STEM stem)
  list(APPEND stems ${stem})
  file(READ ${header} text)
  set(ops)
  set(loops)
  set(kernels)
  set(definitions)
  foreach(kind Unary Binary Comparison)
    structs_of(structs ${kind} "${text}")
    foreach(struct ${structs})
      if(kind STREQUAL "Unary")
        if(NOT structs STREQUAL struct OR NOT text MATCHES "kName = \"${stem}\"")
          message(FATAL_ERROR "${header} holds one unary function, whose kName is the file's name")
        endif()
        typed_function(${stem} ${struct} "${text}")
        string(APPEND ops "  pointwise::declare_unary<functions::${struct}>(registry);\n")
      elseif(kind STREQUAL "Comparison")
        string(APPEND ops "  pointwise::declare_comparison<functions::${struct}>(registry);\n")
      endif()
      string(APPEND loops "  function_rows::add<functions::${struct}>(registry);\n")
      list(APPEND all_functions functions::${struct})
      if(kind STREQUAL "Unary")
        list(APPEND all_functions GradientOf<functions::${struct}>)
      endif()
      string(APPEND kernels "  pointwise::add_function<treadle::functions::${struct}>(registry);\n")
    endforeach()
  endforeach()
  set(include_${stem} "#include \"treadle/ops/pointwise/functions/${stem}.h\"\n")
  registration_of(kernels_of_${stem} pointwise_functions_${stem} "${kernels}")
  list(APPEND generated_kernels pointwise_functions_${stem})
  registration_of(loops_of_${stem} pointwise_functions_${stem}_cpu "${loops}")
  list(APPEND generated_variants pointwise_functions_${stem}_cpu)
  if(ops)
    registration_of(declarations_of_${stem} pointwise_functions_${stem} "${ops}")
    list(APPEND generated_ops pointwise_functions_${stem})
  endif()
  set(definitions_of_${stem} "${definitions}")
endforeach()

file(CONFIGURE OUTPUT ${generated}/unary_functions.h CONTENT [[/// The typed functions of treadle/ops/pointwise/functions, from which this file is generated: what a struct's options are,
/// are its function's parameters. The op of NAME is NAME_op(), that of its gradient NAME_gradient_op(), which takes what the
/// op saves and dy. Dtypes are the floating ones where nothing else is said.
#pragma once

#include "treadle/core/tensor.h"

namespace treadle {

struct Op;

@declared@
}  // namespace treadle
]] @ONLY)

list(TRANSFORM stems REPLACE "(.+)" "#include \"treadle/ops/pointwise/functions/\\1.h\"" OUTPUT_VARIABLE includes)
list(JOIN includes "\n" includes)
list(JOIN all_functions ", " all_functions)
file(CONFIGURE OUTPUT ${generated}/all_functions.h CONTENT [[/// Generated from treadle/ops/pointwise/functions: all of them.
#pragma once

@includes@

namespace treadle {

template <class... F>
struct FunctionList {};

using AllFunctions = FunctionList<@all_functions@>;

}  // namespace treadle
]] @ONLY)

# append_sources(STEM…): the files for the host's compiler, named after the last header.
macro(append_sources)
  set(names ${ARGV})
  list(GET names -1 name)
  function_declarations(${generated}/functions_to_${name}.cpp ${ARGV})
  function_loops(${generated}/functions_to_${name}_cpu.cpp ${ARGV})
  # The same bits with and without AVX-512, which has fused products. A precompiled header would bring its own setting of that.
  set_source_files_properties(${generated}/functions_to_${name}_cpu.cpp
                              PROPERTIES COMPILE_OPTIONS -ffp-contract=off SKIP_PRECOMPILE_HEADERS ON)
  list(APPEND generated_sources ${generated}/functions_to_${name}.cpp ${generated}/functions_to_${name}_cpu.cpp)
  if(NOT TREADLE_UNITY)
    function_kernels(${generated}/functions_of_${name}.cu ${ARGV})
    set_property(GLOBAL APPEND PROPERTY TREADLE_GENERATED_KERNELS ${generated}/functions_of_${name}.cu)
  endif()
endmacro()

list(GET stems -1 last)
set(group)
foreach(stem ${stems})
  list(APPEND group ${stem})
  if(NOT TREADLE_UNITY)
    append_sources(${stem})
  endif()
  list(LENGTH group count)
  if(count LESS 4 AND NOT stem STREQUAL last)
    continue()
  endif()
  function_kernels(${generated}/functions_to_${stem}.cu ${group})
  set_property(GLOBAL APPEND PROPERTY TREADLE_GENERATED_KERNEL_GROUPS ${generated}/functions_to_${stem}.cu)
  if(TREADLE_UNITY)
    append_sources(${group})
  endif()
  set(group)
endforeach()
