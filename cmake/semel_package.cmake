# find_package(semel 0.1 COMPONENTS engine store_sqlite …): one export set per module.
include(CMakePackageConfigHelpers)

set(semel_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/semel)

get_property(SEMEL_COMPONENTS GLOBAL PROPERTY SEMEL_MODULES)
set(SEMEL_NEEDS "")
foreach(component IN LISTS SEMEL_COMPONENTS)
  get_property(needed GLOBAL PROPERTY SEMEL_NEEDS_${component})
  string(APPEND SEMEL_NEEDS "set(semel_needs_${component} ${needed})\n")
endforeach()

configure_package_config_file(cmake/semelConfig.cmake.in
  "${PROJECT_BINARY_DIR}/semelConfig.cmake" INSTALL_DESTINATION ${semel_config_dir})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/semelConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)

install(DIRECTORY include/semel DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT headers)
install(
  FILES
    "${PROJECT_BINARY_DIR}/semelConfig.cmake"
    "${PROJECT_BINARY_DIR}/semelConfigVersion.cmake"
    cmake/semel_dependencies.cmake
    cmake/FindXxhash.cmake
    cmake/FindMariadbConnector.cmake
    cmake/FindNatsClient.cmake
    cmake/FindRapidjsonHeaders.cmake
  DESTINATION ${semel_config_dir} COMPONENT headers)
if(TARGET semel)
  install(TARGETS semel COMPONENT tool)
endif()
