# Test suites. A suite is a ctest label, a build target `semel_suite_<suite>` with everything the
# suite runs, and an argument of ./test.

# semel_test(suite [NAME …] SOURCES … LIBS … [OWN_MAIN] [SERVERS])
#
# One GTest binary `semel_tests_<suite>[_<name>]` per folder of tests/. It is a single ctest entry:
# a process per case costs more than the cases. OWN_MAIN: the sources have a main() that takes
# options of its own beside GTest's. SERVERS: it needs the databases of tools/servers, which ./test
# starts.
function(semel_test suite)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OWN_MAIN;SERVERS" "NAME" "SOURCES;LIBS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "semel_test(${suite}): unknown ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(target semel_tests_${suite})
  set(test ${suite})
  if(arg_NAME)
    set(target semel_tests_${suite}_${arg_NAME})
    set(test ${suite}.${arg_NAME})
  endif()
  set(main GTest::gmock_main)
  if(arg_OWN_MAIN)
    set(main GTest::gmock)
  endif()

  semel_program(${target} SOURCES ${arg_SOURCES} LIBS ${arg_LIBS} ${main} GTest::gtest
    OUTPUT tests/${target})
  semel_set_up_tests(${target})
  semel_add_to_suite(${suite} ${target})
  add_test(NAME ${test} COMMAND ${target})
  set_tests_properties(${test} PROPERTIES LABELS ${suite} TIMEOUT 900)
  set_property(GLOBAL APPEND PROPERTY SEMEL_SUITES "gtest ${suite} tests/${target}")
  if(arg_SERVERS)
    set_property(GLOBAL APPEND PROPERTY SEMEL_SUITES "servers ${suite} -")
  endif()
endfunction()

# semel_test_objects(target SOURCES … LIBS …): cases that several binaries run, compiled once. A
# binary has the target among its LIBS.
function(semel_test_objects target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "semel_test_objects(${target}): incomplete or ${arg_UNPARSED_ARGUMENTS}")
  endif()
  semel_find(${arg_LIBS})
  add_library(${target} OBJECT ${arg_SOURCES})
  target_include_directories(${target}
    PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PUBLIC ${arg_LIBS} PRIVATE semel_warnings GTest::gmock)
  semel_set_up_tests(${target})
endfunction()

function(semel_set_up_tests target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  # Half of a test's compile time is its headers: four sources share one reading of them.
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 4)
  # g++ exempts the main file only, and here that is the batch, not the test.
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  # Shared vectors lie beside the project where they exist; tests look and say if they do not.
  target_compile_definitions(${target} PRIVATE
    SEMEL_SHARED_DIR="${PROJECT_SOURCE_DIR}/../shared"
    SEMEL_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    SEMEL_BINARY_DIR="${PROJECT_BINARY_DIR}")
endfunction()

# semel_check(suite NAME … COMMAND … [TARGETS …] [SERIAL])
#
# A test that is any command: exit code 0 passes, 77 skips. TARGETS are what it needs built. Its
# second label tells ./test which entries of a suite are not GTest binaries.
function(semel_check suite)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SERIAL" "NAME" "COMMAND;TARGETS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_NAME OR NOT arg_COMMAND)
    message(FATAL_ERROR "semel_check(${suite}): incomplete or unknown ${arg_UNPARSED_ARGUMENTS}")
  endif()
  semel_add_to_suite(${suite} ${arg_TARGETS})
  add_test(NAME ${suite}.${arg_NAME} COMMAND ${arg_COMMAND})
  set_tests_properties(${suite}.${arg_NAME} PROPERTIES
    LABELS "${suite};check" SKIP_RETURN_CODE 77 TIMEOUT 600)
  if(arg_SERIAL)
    set_tests_properties(${suite}.${arg_NAME} PROPERTIES RUN_SERIAL ON)
  endif()
  set_property(GLOBAL APPEND PROPERTY SEMEL_SUITES "ctest ${suite} -")
endfunction()

# semel_test_script(suite COMMAND … TARGETS …)
#
# A command that reports as a GTest binary does: it takes options, `--gtest_output=xml:FILE` among
# them, and every case counts.
function(semel_test_script suite)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "COMMAND;TARGETS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_COMMAND)
    message(FATAL_ERROR "semel_test_script(${suite}): incomplete or ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(file tests/semel_tests_${suite})
  list(JOIN arg_COMMAND "' '" words)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/${file} CONTENT "#!/bin/sh\nexec '${words}' \"$@\"\n"
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  semel_add_to_suite(${suite} ${arg_TARGETS})
  add_test(NAME ${suite} COMMAND ${PROJECT_BINARY_DIR}/${file})
  set_tests_properties(${suite} PROPERTIES LABELS ${suite} TIMEOUT 900)
  set_property(GLOBAL APPEND PROPERTY SEMEL_SUITES "gtest ${suite} ${file}")
endfunction()

# semel_example(name SOURCES … LIBS …): a program of examples/ that also runs as a test.
function(semel_example name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "semel_example(${name}): unknown ${arg_UNPARSED_ARGUMENTS}")
  endif()
  semel_program(semel_example_${name} SOURCES ${arg_SOURCES} LIBS ${arg_LIBS}
    OUTPUT examples/${name})
  semel_check(examples NAME ${name} COMMAND semel_example_${name} TARGETS semel_example_${name})
endfunction()

# semel_mutant_library(target MODULES …)
#
# The same sources as the modules, compiled once more with the deliberate bugs of base/mutant.hpp
# switched in. Link it instead of the modules, never beside them.
function(semel_mutant_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "MODULES")
  add_library(${target} STATIC)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  target_compile_definitions(${target} PUBLIC SEMEL_MUTANTS)
  target_include_directories(${target}
    PUBLIC ${PROJECT_SOURCE_DIR}/include PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE semel_warnings)
  foreach(module IN LISTS arg_MODULES)
    get_target_property(folder semel_${module} SOURCE_DIR)
    get_target_property(sources semel_${module} SOURCES)
    list(TRANSFORM sources PREPEND "${folder}/")
    target_sources(${target} PRIVATE ${sources})
    get_property(needed GLOBAL PROPERTY SEMEL_LINKS_${module})
    list(FILTER needed EXCLUDE REGEX "^semel::")
    target_link_libraries(${target} PUBLIC ${needed})
  endforeach()
endfunction()

function(semel_add_to_suite suite)
  if(NOT TARGET semel_suite_${suite})
    add_custom_target(semel_suite_${suite})
  endif()
  if(ARGN)
    add_dependencies(semel_suite_${suite} ${ARGN})
  endif()
endfunction()

# The list ./test reads: kind, suite, binary.
function(semel_write_suites)
  get_property(suites GLOBAL PROPERTY SEMEL_SUITES)
  list(REMOVE_DUPLICATES suites)
  list(JOIN suites "\n" lines)
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/suites.txt" CONTENT "${lines}\n" @ONLY)
endfunction()
