# Writes the list of the kinds of schedules, from the headers of schedules/.
file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/schedules/*.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
set(includes)
set(kinds)
foreach(header ${headers})
  cmake_path(GET header FILENAME name)
  file(READ ${header} text)
  if(NOT text MATCHES "struct ([A-Za-z0-9]+Schedule) {")
    message(FATAL_ERROR "${header} holds no struct …Schedule")
  endif()
  string(APPEND includes "#include \"treadle/optim/schedules/${name}\"\n")
  string(APPEND kinds "schedule_kind<${CMAKE_MATCH_1}>(), ")
endforeach()
set(generated ${CMAKE_BINARY_DIR}/generated/treadle/optim/schedules.cpp)
file(CONFIGURE OUTPUT ${generated} CONTENT [[// Generated from the headers of optim/schedules/.
@includes@
namespace treadle::schedules {

std::vector<ScheduleKind> all();
std::vector<ScheduleKind> all() { return {@kinds@}; }

}  // namespace treadle::schedules
]] @ONLY)
list(APPEND generated_sources ${generated})
