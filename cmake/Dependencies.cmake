# Packages that the modules link. Each is installed by depends/install.sh; see doc/dependencies.md.
find_package(PkgConfig REQUIRED)
# Shared in packages, too: its static library needs others that Debian has as shared ones alone.
pkg_check_modules(LIBZMQ REQUIRED IMPORTED_TARGET libzmq)
if(IBD_STATIC)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
endif()
include(Pinned)
include(Secp256k1)
include(LevelDb)
pkg_check_modules(LIBEVENT REQUIRED IMPORTED_TARGET libevent libevent_pthreads)
pkg_check_modules(LIBCRYPTO REQUIRED IMPORTED_TARGET libcrypto)
pkg_check_modules(UNIVALUE REQUIRED IMPORTED_TARGET libunivalue)
find_package(fmt REQUIRED)
# Debian has no static libfmt.
add_library(ibd_fmt INTERFACE)
target_link_libraries(ibd_fmt INTERFACE $<IF:$<BOOL:${IBD_STATIC}>,fmt::fmt-header-only,fmt::fmt>)
find_package(ZLIB REQUIRED)
find_package(Boost 1.74 REQUIRED)
