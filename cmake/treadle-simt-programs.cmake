# treadle_add_simt_executable(NAME SOURCE… [CHECKED] [DEFINITIONS NAME[=VALUE]…] [INCLUDE_DIRECTORIES FOLDER…] [LIBRARIES NAME…]
#                             [OPTIONS WORD…])
#
# A program of CUDA sources that runs on the processor, made by `treadle simt build` when the project is built, and again when a
# source or one of its own headers has changed. NAME is an imported executable: add_test(NAME … COMMAND NAME) runs it. A CHECKED one
# is for `treadle simt check`:
#
#     add_test(NAME … COMMAND treadle::treadle_program simt check $<TARGET_FILE:NAME>)
function(treadle_add_simt_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 simt "CHECKED" "" "DEFINITIONS;INCLUDE_DIRECTORIES;LIBRARIES;OPTIONS")
  if(NOT simt_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "treadle_add_simt_executable: ${name} has no source")
  endif()
  set(sources)
  foreach(source ${simt_UNPARSED_ARGUMENTS})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    list(APPEND sources ${source})
  endforeach()
  set(words ${simt_OPTIONS} -O $<IF:$<CONFIG:Debug>,0,3>)
  if(simt_CHECKED)
    set(words ${simt_OPTIONS} --checked)
  endif()
  foreach(definition ${simt_DEFINITIONS})
    list(APPEND words -D ${definition})
  endforeach()
  foreach(folder ${simt_INCLUDE_DIRECTORIES})
    cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    list(APPEND words -I ${folder})
  endforeach()
  foreach(library ${simt_LIBRARIES})
    list(APPEND words -l ${library})
  endforeach()
  set(program ${CMAKE_CURRENT_BINARY_DIR}/${name}.simt)  # CMake takes a file with a target's name for the target
  add_custom_command(OUTPUT ${program}
                     COMMAND treadle::treadle_program simt build ${sources} ${words} --compiler ${CMAKE_CXX_COMPILER}
                             --dependencies ${program}.d -o ${program}
                     DEPENDS ${sources} treadle::treadle_program DEPFILE ${program}.d
                     COMMENT "Building ${name} of CUDA sources" VERBATIM)
  add_custom_target(${name}_program ALL DEPENDS ${program})
  add_executable(${name} IMPORTED GLOBAL)
  set_target_properties(${name} PROPERTIES IMPORTED_LOCATION ${program})
  add_dependencies(${name} ${name}_program)
endfunction()
