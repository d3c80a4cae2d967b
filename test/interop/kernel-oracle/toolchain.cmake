# Passed to the kernel's own CMake build through the environment (CMAKE_TOOLCHAIN_FILE) by
# build_oracle.sh. It names no compiler; it only drops what the oracle does not need: debug
# information (a third of the compile time, most of the disk) and the embedded asmap.
set(APPEND_CXXFLAGS "-O2 -g0" CACHE STRING "")
set(APPEND_CFLAGS "-O2 -g0" CACHE STRING "")
set(WITH_EMBEDDED_ASMAP OFF CACHE BOOL "")
set(INSTALL_MAN OFF CACHE BOOL "")
