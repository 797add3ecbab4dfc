# cmake -D BUILD=… -D WORK=… -D CONSUMER=… -D GENERATOR=… -D COMPILER=… -D FLAGS=… -P consume.cmake

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(configure ${CMAKE_COMMAND} -G ${GENERATOR} -S ${CONSUMER} -D CMAKE_PREFIX_PATH=${WORK}/prefix
  -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_FLAGS=${FLAGS})

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${configure} -B ${WORK}/build)
run(${CMAKE_COMMAND} --build ${WORK}/build)
# The second process finds the first one's record: nothing is left to do.
run(${CMAKE_COMMAND} -E chdir ${WORK} ${WORK}/build/consumer 1)
run(${CMAKE_COMMAND} -E chdir ${WORK} ${WORK}/build/consumer 0)

# gRPC is found for those who ask, and only then asked for.
run(${configure} -B ${WORK}/grpc -D MORE_COMPONENTS=grpc)
file(STRINGS ${WORK}/build/CMakeCache.txt asked REGEX "^gRPC_DIR")
if(asked)
  message(FATAL_ERROR "gRPC was looked for by a consumer that did not ask: ${asked}")
endif()

# A component that does not exist is refused by name.
execute_process(COMMAND ${configure} -B ${WORK}/wrong -D MORE_COMPONENTS=abacus
  RESULT_VARIABLE code ERROR_VARIABLE message OUTPUT_QUIET)
string(REGEX REPLACE "[ \n]+" " " message "${message}")
if(code EQUAL 0 OR NOT message MATCHES "no component 'abacus'")
  message(FATAL_ERROR "an unknown component was not refused: ${code} ${message}")
endif()
