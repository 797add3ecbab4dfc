# What every target of this build shares: language level, warnings, ccache.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

# Linked through $<BUILD_INTERFACE:…> only, so that warnings never reach a consumer.
add_library(semel_warnings INTERFACE)
if(SEMEL_DEVELOPER)
  target_compile_options(semel_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual
    # g++'s plain -Wshadow also objects to a parameter named like a type of the namespace.
    $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>
    $<$<CXX_COMPILER_ID:Clang>:-Wshadow -Wthread-safety>)
endif()

# Messages of SEMEL_ASSERT name the file inside the project, not the machine it was built on.
add_compile_options(-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)

# Programs of this build read what strangers send. A program that embeds the libraries chooses its
# own flags. Sanitizers replace these checks with stricter ones.
option(SEMEL_HARDENING "Build with the checks that make mistakes in memory stop the program"
  ${SEMEL_DEVELOPER})
if(SEMEL_HARDENING)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  add_compile_options(
    -fstack-protector-strong -fstack-clash-protection -fcf-protection=full
    -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -D_GLIBCXX_ASSERTIONS)
  # lld marks a program for shadow stacks only if every object carries the mark. Debian 12's crt1.o
  # does not carry it, although nothing in it changes a return address.
  add_link_options(-pie -Wl,-z,relro,-z,now,-z,noexecstack,-z,shstk)
endif()

find_program(SEMEL_CCACHE ccache)
if(SEMEL_DEVELOPER AND SEMEL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Presets, build folders and clones share objects: neither the place of the tree nor that of the
  # build is in what they are compiled from.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_IGNOREOPTIONS=-fmacro-prefix-map=* ${SEMEL_CCACHE})
endif()

# A package is found in the folder that first links it and used by all.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
