# Writes OUTPUT, a C++ source, from the pages in SOURCE. Run by semel_console.cmake with
# -D SOURCE, OUTPUT, CONSOLE and, where they are there, NODE and NPM.

# One page that says that there are none.
function(write_not_built)
  file(READ ${SOURCE}/not_built.html page)
  file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
// Made without npm.
#include "edge/console/pages.hpp"

namespace semel::edge {

std::span<const asset> console_assets() {
    static constexpr asset all[] = {
        {"/", "text/html; charset=utf-8", "\"not-built\"", R"page(@page@)page", ""}};
    return all;
}

} // namespace semel::edge
]])
endfunction()

function(run_or_fail result)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${SOURCE}
    RESULT_VARIABLE code OUTPUT_VARIABLE said ERROR_VARIABLE said)
  set(${result} ${code} PARENT_SCOPE)
  if(NOT code EQUAL 0)
    message(NOTICE "${said}")
  endif()
endfunction()

if(NOT NPM)
  write_not_built()
  return()
endif()

# Presets share the folder of packages.
file(LOCK ${SOURCE}/node_modules.lock)
set(code 0)
if(${SOURCE}/package-lock.json IS_NEWER_THAN ${SOURCE}/node_modules/.package-lock.json)
  run_or_fail(code ${NPM} ci --ignore-scripts --no-audit --no-fund --loglevel=error)
endif()
if(code EQUAL 0)
  run_or_fail(code ${NODE} build.mjs ${OUTPUT})
endif()
if(code EQUAL 0)
  return()
endif()
if(CONSOLE STREQUAL "ON")
  message(FATAL_ERROR "console: npm could not build its pages")
endif()
message(NOTICE "console: npm could not build its pages; they are left out, everything else is "
  "built. Configure again to try again.")
write_not_built()
file(WRITE ${OUTPUT}.d "${OUTPUT}: ${SOURCE}/package.json\n")
file(TOUCH ${OUTPUT}.failed)
