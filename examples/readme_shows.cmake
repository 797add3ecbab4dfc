# cmake -D README=… -D EXAMPLE=… -P readme_shows.cmake: the README's program is the one that is run.
file(READ "${README}" readme)
file(READ "${EXAMPLE}" example)
string(FIND "${readme}" "```cpp\n${example}```" at)
if(at EQUAL -1)
  message(FATAL_ERROR "${README} does not show ${EXAMPLE} as it is; copy it there")
endif()
