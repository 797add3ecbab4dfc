# semel_module(name SOURCES … [PUBLIC_LIBS …] [PRIVATE_LIBS …])
#
# The only way to declare a library: static `semel_<name>`, seen by everyone as `semel::<name>`,
# installed as component <name>. Libraries are named by their `namespace::target`, so that a typo
# fails at configure time and the package is found by itself (see semel_dependencies.cmake).
function(semel_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;PUBLIC_LIBS;PRIVATE_LIBS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "semel_module(${name}): no sources or unknown ${arg_UNPARSED_ARGUMENTS}")
  endif()
  semel_find(${arg_PUBLIC_LIBS} ${arg_PRIVATE_LIBS})

  add_library(semel_${name} STATIC ${arg_SOURCES})
  add_library(semel::${name} ALIAS semel_${name})
  set_target_properties(semel_${name} PROPERTIES
    EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_compile_features(semel_${name} PUBLIC cxx_std_20)
  target_include_directories(semel_${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(semel_${name}
    PUBLIC ${arg_PUBLIC_LIBS} PRIVATE $<BUILD_INTERFACE:semel_warnings>)

  set(needed ${arg_PUBLIC_LIBS})
  foreach(library IN LISTS arg_PRIVATE_LIBS)
    if(library IN_LIST semel_header_only)
      target_link_libraries(semel_${name} PRIVATE $<BUILD_INTERFACE:${library}>)
    else()
      target_link_libraries(semel_${name} PRIVATE ${library})
      list(APPEND needed ${library})
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY SEMEL_MODULES ${name})
  set_property(GLOBAL PROPERTY SEMEL_LINKS_${name} ${arg_PUBLIC_LIBS} ${arg_PRIVATE_LIBS})
  set_property(GLOBAL PROPERTY SEMEL_NEEDS_${name} ${needed})

  install(TARGETS semel_${name} EXPORT semel-${name}-targets COMPONENT ${name})
  install(EXPORT semel-${name}-targets NAMESPACE semel:: COMPONENT ${name}
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/semel)
endfunction()

# semel_program(target SOURCES … LIBS … [OUTPUT path-below-the-build-tree])
function(semel_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "OUTPUT" "SOURCES;LIBS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "semel_program(${target}): no sources or unknown ${arg_UNPARSED_ARGUMENTS}")
  endif()
  semel_find(${arg_LIBS})

  add_executable(${target} ${arg_SOURCES})
  target_include_directories(${target}
    PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE ${arg_LIBS} semel_warnings)
  if(arg_OUTPUT)
    cmake_path(GET arg_OUTPUT PARENT_PATH folder)
    cmake_path(GET arg_OUTPUT FILENAME file)
    set_target_properties(${target} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${folder}" OUTPUT_NAME ${file})
  endif()
endfunction()
