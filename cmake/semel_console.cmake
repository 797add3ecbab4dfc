# The console's pages become a C++ source: built by npm where it is there, else one page that says
# that it was not.

set(SEMEL_CONSOLE AUTO CACHE STRING
  "AUTO: with the console's pages if npm can build them; ON: fail if not; OFF: without")
set_property(CACHE SEMEL_CONSOLE PROPERTY STRINGS AUTO ON OFF)

# semel_console_assets(file): makes the source that defines console_assets().
function(semel_console_assets output)
  set(source ${PROJECT_SOURCE_DIR}/console)
  set(script ${PROJECT_SOURCE_DIR}/cmake/build_console.cmake)
  find_program(SEMEL_NODE NAMES node nodejs)
  find_program(SEMEL_NPM npm)
  set(run ${CMAKE_COMMAND} -D SOURCE=${source} -D OUTPUT=${output} -D CONSOLE=${SEMEL_CONSOLE})
  if(SEMEL_CONSOLE STREQUAL "OFF" OR NOT SEMEL_NODE OR NOT SEMEL_NPM)
    if(SEMEL_CONSOLE STREQUAL "ON")
      message(FATAL_ERROR "console: node and npm are needed to build its pages (SEMEL_CONSOLE=ON)")
    endif()
    message(NOTICE "console: its pages are left out (node and npm are not there, or "
      "SEMEL_CONSOLE=OFF); `tools/setup build` installs them. Everything else is built.")
    execute_process(COMMAND ${run} -P ${script} COMMAND_ERROR_IS_FATAL ANY)
    return()
  endif()

  # A build without the registry made the page that says so; this one tries again.
  if(EXISTS ${output}.failed)
    file(REMOVE ${output} ${output}.failed)
  endif()
  add_custom_command(OUTPUT ${output}
    COMMAND ${run} -D NODE=${SEMEL_NODE} -D NPM=${SEMEL_NPM} -P ${script}
    DEPENDS ${script} ${source}/package.json ${source}/package-lock.json ${source}/build.mjs
            ${source}/not_built.html
    DEPFILE ${output}.d
    COMMENT "Building the console's pages"
    VERBATIM)
endfunction()
