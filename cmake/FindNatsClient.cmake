# nats::nats. The CMake package of Debian's libnats-dev names a static library that it lacks.
include(FindPackageHandleStandardArgs)

find_path(NatsClient_INCLUDE_DIR nats/nats.h)
find_library(NatsClient_LIBRARY nats)
mark_as_advanced(NatsClient_INCLUDE_DIR NatsClient_LIBRARY)
find_package_handle_standard_args(NatsClient
  REQUIRED_VARS NatsClient_LIBRARY NatsClient_INCLUDE_DIR)

if(NatsClient_FOUND AND NOT TARGET nats::nats)
  add_library(nats::nats UNKNOWN IMPORTED)
  set_target_properties(nats::nats PROPERTIES
    IMPORTED_LOCATION "${NatsClient_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${NatsClient_INCLUDE_DIR}")
endif()
