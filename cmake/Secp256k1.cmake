# The target secp256k1: consensus cryptography is pinned. The default is Core's own libsecp256k1,
# static, with ElligatorSwift, at the prefix that depends/build_secp256k1.sh prints; it is built there
# the first time. SECP256K1_DESCRIPTION says what -version prints about it.
option(IBD_SYSTEM_SECP256K1
       "Link the distribution's libsecp256k1: shared, upgraded by others; needs ElligatorSwift" OFF)
set(IBD_SECP256K1_ROOT "" CACHE PATH
    "Prefix of the pinned libsecp256k1; empty: where depends/build_secp256k1.sh puts it")
add_library(secp256k1 INTERFACE)
if(IBD_SYSTEM_SECP256K1)
  pkg_check_modules(SECP256K1 REQUIRED IMPORTED_TARGET libsecp256k1)
  find_file(SECP256K1_ELLSWIFT secp256k1_ellswift.h HINTS ${SECP256K1_INCLUDE_DIRS})
  if(NOT SECP256K1_ELLSWIFT)
    message(FATAL_ERROR "The distribution's libsecp256k1 ${SECP256K1_VERSION} has no ElligatorSwift")
  endif()
  target_link_libraries(secp256k1 INTERFACE PkgConfig::SECP256K1)
  set(SECP256K1_DESCRIPTION "${SECP256K1_VERSION} of the system, shared")
  message(WARNING "Consensus cryptography is the system's libsecp256k1 ${SECP256K1_VERSION}")
  return()
endif()

set(secp256k1_prefix "${IBD_SECP256K1_ROOT}")
if(NOT secp256k1_prefix)
  ibd_pinned_prefix(secp256k1_prefix libsecp256k1 build_secp256k1.sh
                    "-DIBD_SYSTEM_SECP256K1=ON for the distribution's")
endif()
set(SECP256K1_LIBRARY "${secp256k1_prefix}/lib/libsecp256k1.a")
if(NOT EXISTS "${SECP256K1_LIBRARY}" OR NOT EXISTS "${secp256k1_prefix}/include/secp256k1_ellswift.h")
  message(FATAL_ERROR "IBD_SECP256K1_ROOT: no static libsecp256k1 with ElligatorSwift in ${secp256k1_prefix}")
endif()
target_include_directories(secp256k1 SYSTEM INTERFACE "${secp256k1_prefix}/include")
target_link_libraries(secp256k1 INTERFACE "${SECP256K1_LIBRARY}")
file(STRINGS "${secp256k1_prefix}/lib/pkgconfig/libsecp256k1.pc" SECP256K1_DESCRIPTION REGEX "^Version:")
string(REPLACE "Version: " "" SECP256K1_DESCRIPTION "${SECP256K1_DESCRIPTION}")
if(EXISTS "${secp256k1_prefix}/origin")
  file(STRINGS "${secp256k1_prefix}/origin" origin)
  string(APPEND SECP256K1_DESCRIPTION " of ${origin}")
endif()
string(APPEND SECP256K1_DESCRIPTION ", static")
