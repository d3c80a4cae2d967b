#!/usr/bin/env bash
# Builds the LevelDB that Bitcoin Core itself uses, static, with its CRC32C, out of the package that
# the interop tests pin (test/interop/kernel-oracle/Cargo.lock), and prints its prefix. Configuring
# with CMake runs it; it takes about half a minute the first time. Exit status as
# depends/cached_build.sh says.
#
#   depends/build_leveldb.sh [SANITIZER]     thread: a build for the thread sanitizer, whose
#                                            atomics it would not see otherwise
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/cached_build.sh"
sanitizer=${1:-}
begin_build leveldb "$(cat "${BASH_SOURCE[0]}" "$here/leveldb/CMakeLists.txt" "$core_lock" |
    hash_of)${sanitizer:+-$sanitizer}"
prefix=$cache/$build_key
already_there "$prefix"
need_cargo
need_tools cmake c++
lock_cache
already_there "$prefix"

source=$(core_source)
work=$(mktemp -d "$cache/build.XXXXXX")
trap 'rm -rf "$work"' EXIT
# Without the map the texts of LevelDB's assertions would name the builder's home.
flags="-O2 -ffile-prefix-map=$source=bitcoin"
[ -z "$sanitizer" ] || flags+=" -fsanitize=$sanitizer -g1"
run_build "LevelDB, configuring" cmake -S "$here/leveldb" -B "$work/build" \
    -DSOURCE="$source/src" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_FLAGS_RELEASE="$flags" -DCMAKE_INSTALL_PREFIX="$prefix"
run_build LevelDB cmake --build "$work/build" -j "${IBD_JOBS:-$(nproc)}"
run_build "LevelDB, installing" env DESTDIR="$work/stage" cmake --install "$work/build"
mv "$work/stage$prefix" "$prefix"
echo "$prefix"
