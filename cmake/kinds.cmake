# list_kinds(FOLDER SUFFIX SOURCE): writes generated/SOURCE, the list of the kinds whose headers lie in treadle/FOLDER/: each holds
# one struct …SUFFIX. With the SUFFIX Schedule, schedules::all() gives schedule_kind<…>() of each, a ScheduleKind. Adds the file to the
# caller's generated_sources.
function(list_kinds folder suffix source)
  string(TOLOWER ${suffix} kind)
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/treadle/${folder}/*.h)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
  set(includes)
  set(kinds)
  foreach(header ${headers})
    cmake_path(GET header FILENAME name)
    file(READ ${header} text)
    if(NOT text MATCHES "struct ([A-Za-z0-9]+${suffix}) {")
      message(FATAL_ERROR "${header} holds no struct …${suffix}")
    endif()
    string(APPEND includes "#include \"treadle/${folder}/${name}\"\n")
    string(APPEND kinds "${kind}_kind<${CMAKE_MATCH_1}>(), ")
  endforeach()
  set(generated ${CMAKE_BINARY_DIR}/generated/treadle/${source})
  file(CONFIGURE OUTPUT ${generated} CONTENT [[// Generated from the headers of @folder@/.
@includes@
namespace treadle::@kind@s {

std::vector<@suffix@Kind> all();
std::vector<@suffix@Kind> all() { return {@kinds@}; }

}  // namespace treadle::@kind@s
]] @ONLY)
  list(APPEND generated_sources ${generated})
  set(generated_sources ${generated_sources} PARENT_SCOPE)
endfunction()
