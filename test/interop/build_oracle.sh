#!/usr/bin/env bash
# Builds the kernel oracle (Bitcoin Core's engine as a program) into the cache and prints the path
# of its binary. Exit status as depends/cached_build.sh says.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../depends/cached_build.sh"
prepare() {
    need_tools cmake g++
    cp "$here/kernel-oracle/toolchain.cmake" "$cache/toolchain.cmake"
    export CMAKE_TOOLCHAIN_FILE=$cache/toolchain.cmake
}
SOURCES="Cargo.toml Cargo.lock build.rs toolchain.cmake src shim"
build_crate "$here/kernel-oracle" "the kernel oracle (three to five minutes the first time)" prepare
