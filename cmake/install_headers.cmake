# Installs the public interface: the headers below SOURCE/treadle that say `#pragma once  // public`, all of Treadle's that
# they include, and treadle/treadle.h, which includes the public ones; before them those that CUDA programs are compiled with
# (simt/driver), with ONLY_PROGRAMS these alone. Runs at installation, when the sources are as they are; TO is the folder for
# headers.

cmake_policy(VERSION 3.25)  # an installation has none of its own

function(public_headers result)
  file(GLOB_RECURSE headers RELATIVE ${SOURCE} ${SOURCE}/treadle/*.h)
  set(marked)
  foreach(header ${headers})
    file(STRINGS ${SOURCE}/${header} mark REGEX "^#pragma once  // public$" LIMIT_COUNT 1)
    if(mark)
      list(APPEND marked ${header})
    endif()
  endforeach()
  list(SORT marked)
  set(${result} ${marked} PARENT_SCOPE)
endfunction()

# folder_with(RESULT HEADER): where the header lies, among the sources or generated.
function(folder_with result header)
  if(EXISTS ${SOURCE}/${header})
    set(${result} ${SOURCE} PARENT_SCOPE)
  else()
    set(${result} ${BUILD}/generated PARENT_SCOPE)
  endif()
endfunction()

# with_includes(RESULT HEADER…): the headers and those that they include, directly or not.
function(with_includes result)
  set(waiting ${ARGN})
  set(all)
  while(waiting)
    list(POP_FRONT waiting header)
    if(header IN_LIST all)
      continue()
    endif()
    list(APPEND all ${header})
    folder_with(folder ${header})
    file(STRINGS ${folder}/${header} lines REGEX "^#include \"treadle/")
    foreach(line ${lines})
      string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" included ${line})
      list(APPEND waiting ${included})
    endforeach()
  endwhile()
  set(${result} ${all} PARENT_SCOPE)
endfunction()

# install_with_includes(HEADER…): the headers and those that they include, to their places.
function(install_with_includes)
  with_includes(installed ${ARGN})
  foreach(header ${installed})
    cmake_path(GET header PARENT_PATH folder)
    folder_with(origin ${header})
    file(INSTALL ${origin}/${header} DESTINATION ${TO}/${folder})
  endforeach()
endfunction()

# What CUDA programs are compiled with.
file(GLOB_RECURSE toolkit RELATIVE ${SOURCE} ${SOURCE}/treadle/simt/toolkit/include/*)
install_with_includes(treadle/simt/program.h ${toolkit})
if(ONLY_PROGRAMS)
  return()
endif()

public_headers(public)
install_with_includes(${public})

list(TRANSFORM public REPLACE "(.+)" "#include \"\\1\"" OUTPUT_VARIABLE includes)
list(JOIN includes "\n" includes)
file(WRITE ${BUILD}/treadle.h "/// The whole public interface of the library.\n#pragma once\n\n${includes}\n")
file(INSTALL ${BUILD}/treadle.h DESTINATION ${TO}/treadle)
