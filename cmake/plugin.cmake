# add_plugin(TARGET SOURCE…): libTARGET.so, which is opened at run time and never unloaded, and exports what exports.map beside
# its CMakeLists.txt names. What it is linked with is the caller's matter.
function(add_plugin target)
  set(exports ${CMAKE_CURRENT_SOURCE_DIR}/exports.map)
  add_library(${target} MODULE ${ARGN})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_link_options(${target} PRIVATE -Wl,-z,nodelete -Wl,-z,defs -Wl,--version-script=${exports})
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON LINK_DEPENDS ${exports})
  set_property(GLOBAL APPEND PROPERTY TREADLE_PLUGINS ${target})
endfunction()
