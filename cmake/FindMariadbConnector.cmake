# MariaDB::MariaDB. Debian's libmariadb-dev brings a pkg-config file but no CMake package.
include(FindPackageHandleStandardArgs)

find_path(MariadbConnector_INCLUDE_DIR mysql.h PATH_SUFFIXES mariadb)
find_library(MariadbConnector_LIBRARY mariadb)
mark_as_advanced(MariadbConnector_INCLUDE_DIR MariadbConnector_LIBRARY)
find_package_handle_standard_args(MariadbConnector
  REQUIRED_VARS MariadbConnector_LIBRARY MariadbConnector_INCLUDE_DIR)

if(MariadbConnector_FOUND AND NOT TARGET MariaDB::MariaDB)
  add_library(MariaDB::MariaDB UNKNOWN IMPORTED)
  set_target_properties(MariaDB::MariaDB PROPERTIES
    IMPORTED_LOCATION "${MariadbConnector_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${MariadbConnector_INCLUDE_DIR}")
endif()
