#!/usr/bin/env bash
# Builds Bitcoin Core's own bitcoind and bitcoin-cli (31.99, -O2, no wallet) from the tree that the
# oracle's pinned package carries, into the cache, and prints the folder that holds both. Seven
# minutes the first time on two idle cores. Exit status as depends/cached_build.sh says.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../depends/cached_build.sh"
begin_build core "$(cat "${BASH_SOURCE[0]}" "$core_lock" | hash_of)"
programs=$cache/bin/$build_key
already_there "$programs"
need_cargo
need_tools cmake ninja g++ pkg-config python3
pkg-config --exists libevent libevent_pthreads || cannot_build "libevent-dev is not installed"
g++ -E -include boost/multi_index_container.hpp -x c++ /dev/null > /dev/null 2>&1 ||
    cannot_build "libboost-dev is not installed"
lock_cache
already_there "$programs"

# One build folder for all keys: what an interrupted build finished is not built again.
build=$cache/build
source=$(core_source)
if ! grep -qsFx "CMAKE_HOME_DIRECTORY:INTERNAL=$source" "$build/CMakeCache.txt"; then
    rm -rf "$build"
fi
run_build "Bitcoin Core, configuring" cmake -S "$source" -B "$build" -G Ninja \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O2 \
    -DBUILD_TX=OFF -DBUILD_UTIL=OFF -DBUILD_TESTS=OFF -DBUILD_BENCH=OFF -DBUILD_FUZZ_BINARY=OFF \
    -DENABLE_WALLET=OFF -DENABLE_IPC=OFF -DWITH_EMBEDDED_ASMAP=OFF -DWITH_ZMQ=OFF \
    -DENABLE_EXTERNAL_SIGNER=OFF
run_build "Bitcoin Core (ten minutes the first time)" \
    ninja -C "$build" -j "${IBD_JOBS:-$(nproc)}" bitcoind bitcoin-cli
rm -rf "$programs.tmp"
mkdir -p "$programs.tmp"
cp "$build/bin/bitcoind" "$build/bin/bitcoin-cli" "$programs.tmp"
mv "$programs.tmp" "$programs"
echo "$programs"
