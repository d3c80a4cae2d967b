#!/usr/bin/env bash
# Builds core-records, which times Bitcoin Core's own reading and writing of a block and its undo
# data, from the libraries that build_core.sh leaves in its build folder, and prints its path. Exit
# status as depends/cached_build.sh says.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../depends/cached_build.sh"
main=$here/core-records/core_records_main.cpp
begin_build core-records "$(cat "${BASH_SOURCE[0]}" "$here/build_core.sh" "$main" "$core_lock" |
    hash_of)"
program=$cache/bin/$build_key/core-records
already_there "$program"
status=0
"$here/build_core.sh" > /dev/null || status=$?
[ "$status" -eq 0 ] || exit "$status"
need_cargo
need_tools ninja g++
lock_cache
already_there "$program"

source=$(core_source)
build=$(dirname "$cache")/core/build
libraries="lib/libbitcoin_node.a lib/libbitcoin_common.a lib/libbitcoin_consensus.a
    src/secp256k1/lib/libsecp256k1.a lib/libbitcoin_util.a lib/libbitcoin_clientversion.a
    lib/libbitcoin_crypto.a src/libleveldb.a src/libcrc32c.a src/libminisketch.a
    src/univalue/libunivalue.a"
mkdir -p "$(dirname "$program")"
cd "$build"
# shellcheck disable=SC2086 # a list of names
run_build "core-records" g++ -O2 -std=c++20 -I src -I "$source/src" \
    -I "$source/src/univalue/include" "$main" $libraries -levent_pthreads -levent \
    -o "$program.tmp"
mv "$program.tmp" "$program"
echo "$program"
