# Writes the list of the kinds of augmentations, from the headers of augment/.
file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/augment/*.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
set(includes)
set(kinds)
foreach(header ${headers})
  cmake_path(GET header FILENAME name)
  file(READ ${header} text)
  if(NOT text MATCHES "struct ([A-Za-z0-9]+Augmentation) {")
    message(FATAL_ERROR "${header} holds no struct …Augmentation")
  endif()
  string(APPEND includes "#include \"treadle/data/augment/${name}\"\n")
  string(APPEND kinds "augmentation_kind<${CMAKE_MATCH_1}>(), ")
endforeach()
set(generated ${CMAKE_BINARY_DIR}/generated/treadle/data/augmentations.cpp)
file(CONFIGURE OUTPUT ${generated} CONTENT [[// Generated from the headers of data/augment/.
@includes@
namespace treadle::augmentations {

std::vector<AugmentationKind> all();
std::vector<AugmentationKind> all() { return {@kinds@}; }

}  // namespace treadle::augmentations
]] @ONLY)
list(APPEND generated_sources ${generated})
