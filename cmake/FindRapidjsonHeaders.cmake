# rapidjson::rapidjson. Debian's own RapidJSON package file sets variables but makes no target.
include(FindPackageHandleStandardArgs)

find_path(RapidjsonHeaders_INCLUDE_DIR rapidjson/reader.h)
mark_as_advanced(RapidjsonHeaders_INCLUDE_DIR)
find_package_handle_standard_args(RapidjsonHeaders REQUIRED_VARS RapidjsonHeaders_INCLUDE_DIR)

if(RapidjsonHeaders_FOUND AND NOT TARGET rapidjson::rapidjson)
  add_library(rapidjson::rapidjson INTERFACE IMPORTED)
  set_target_properties(rapidjson::rapidjson PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${RapidjsonHeaders_INCLUDE_DIR}")
endif()
