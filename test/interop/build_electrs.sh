#!/usr/bin/env bash
# Builds electrs (an Electrum server, in Rust) at the version below, over Debian's RocksDB, into the
# cache, and prints the path of its binary. 165 CPU seconds the first time. Later versions, which
# read blocks over REST, need a RocksDB that Debian 12 does not have, whose build takes longer than
# all tests (README.md says how to test them). Exit status as depends/cached_build.sh says.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../depends/cached_build.sh"
version=0.10.10
begin_build electrs "$(hash_of <<< "$version")"
folder=$cache/bin/$build_key
already_there "$folder/bin/electrs"
need_cargo
need_tools c++ # its driver knows where the system has its libraries
export ROCKSDB_INCLUDE_DIR=/usr/include
ROCKSDB_LIB_DIR=/usr/lib/$(c++ -print-multiarch)
export ROCKSDB_LIB_DIR
[ -e "$ROCKSDB_LIB_DIR/librocksdb.so" ] || cannot_build "librocksdb-dev is not installed"
lock_cache
already_there "$folder/bin/electrs"

export CARGO_TARGET_DIR=$cache/target
run_build "electrs (minutes the first time)" cargo install electrs --version "=$version" --locked \
    --debug --no-default-features --root "$folder.tmp" --jobs "${IBD_JOBS:-$(nproc)}"
rm -rf "$folder"
mv "$folder.tmp" "$folder"
echo "$folder/bin/electrs"
