# Installation and the package that find_package(treadle) finds.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

install(TARGETS treadle treadle_built_ins EXPORT treadle-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS treadle_program EXPORT treadle-targets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
get_property(plugins GLOBAL PROPERTY TREADLE_PLUGINS)
foreach(plugin ${plugins})
  install(TARGETS ${plugin} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/treadle)  # where core/plugin.cpp looks
endforeach()
install(CODE "set(SOURCE \"${PROJECT_SOURCE_DIR}\")
set(BUILD \"${PROJECT_BINARY_DIR}\")
set(TO \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}\")")
install(SCRIPT cmake/install_headers.cmake)
install(EXPORT treadle-targets NAMESPACE treadle:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/treadle)
configure_package_config_file(cmake/treadle-config.cmake.in ${PROJECT_BINARY_DIR}/treadle-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/treadle)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/treadle-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/treadle-config.cmake ${PROJECT_BINARY_DIR}/treadle-config-version.cmake
              cmake/treadle-simt-programs.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/treadle)
