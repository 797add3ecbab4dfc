# httplib::httplib. Debian's libcpp-httplib-dev brings a pkg-config file but no CMake package. What
# the library was compiled with changes its types: the definitions are part of its ABI.
include(FindPackageHandleStandardArgs)

find_path(CppHttplib_INCLUDE_DIR httplib.h)
find_library(CppHttplib_LIBRARY cpp-httplib)
mark_as_advanced(CppHttplib_INCLUDE_DIR CppHttplib_LIBRARY)
find_package_handle_standard_args(CppHttplib
  REQUIRED_VARS CppHttplib_LIBRARY CppHttplib_INCLUDE_DIR)

if(CppHttplib_FOUND AND NOT TARGET httplib::httplib)
  add_library(httplib::httplib UNKNOWN IMPORTED)
  set_target_properties(httplib::httplib PROPERTIES
    IMPORTED_LOCATION "${CppHttplib_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${CppHttplib_INCLUDE_DIR}"
    INTERFACE_COMPILE_DEFINITIONS
      "CPPHTTPLIB_OPENSSL_SUPPORT;CPPHTTPLIB_ZLIB_SUPPORT;CPPHTTPLIB_BROTLI_SUPPORT")
endif()
