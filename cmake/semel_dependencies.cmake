# Third-party packages by the namespace of their targets. The installed package reads the same
# table, so a component asks its consumer for exactly what it links.

set(semel_package_OpenSSL OpenSSL 3.0)
set(semel_package_SQLite SQLite3 3.40)
set(semel_package_PostgreSQL PostgreSQL 13)
set(semel_package_MariaDB MariadbConnector)
set(semel_package_Threads Threads)
set(semel_package_absl absl CONFIG)
set(semel_package_nats NatsClient)
set(semel_package_fmt fmt 9 CONFIG)
set(semel_package_nlohmann_json nlohmann_json 3.11 CONFIG)
set(semel_package_spdlog spdlog 1.10 CONFIG)
set(semel_package_xxhash Xxhash)
set(semel_package_rapidjson RapidjsonHeaders)
set(semel_package_Boost Boost 1.81 CONFIG)
set(semel_package_CLI11 CLI11 2.1 CONFIG)
set(semel_package_tomlplusplus tomlplusplus 3.3 CONFIG)
set(semel_package_httplib CppHttplib)
set(semel_package_protobuf Protobuf 3.21)
set(semel_package_gRPC gRPC CONFIG)
set(semel_package_mimalloc mimalloc 2.0 CONFIG)
set(semel_package_GTest GTest 1.12 CONFIG)

# Header-only: as a private dependency of a library it leaves nothing behind for a consumer.
set(semel_header_only rapidjson::rapidjson CLI11::CLI11 Boost::headers)

# Finds the package behind each `namespace::target`; our own targets are left alone.
macro(semel_find)
  foreach(semel_target IN ITEMS ${ARGN})
    string(REGEX REPLACE "::.*" "" semel_namespace ${semel_target})
    if(NOT semel_namespace MATCHES "^semel" AND NOT TARGET ${semel_target})
      if(NOT DEFINED semel_package_${semel_namespace})
        message(FATAL_ERROR "${semel_target}: add its package to semel_dependencies.cmake")
      endif()
      find_package(${semel_package_${semel_namespace}} REQUIRED)
    endif()
  endforeach()
endmacro()
