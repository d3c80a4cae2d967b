#!/usr/bin/env bash
# Builds corepc-calls (a program over the published crate corepc-client) into the cache and prints
# the path of its binary. 80 CPU seconds the first time. Exit status as depends/cached_build.sh
# says.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../depends/cached_build.sh"
crate=$here/corepc-calls
begin_build corepc-calls "$(cd "$crate" && find Cargo.toml Cargo.lock src -type f -print0 |
    LC_ALL=C sort -z | xargs -0 sha256sum | hash_of)"
binary=$cache/bin/$build_key/corepc-calls
already_there "$binary"
need_cargo
lock_cache
already_there "$binary"

export CARGO_TARGET_DIR=$cache/target
run_build "corepc-calls" \
    cargo build --manifest-path "$crate/Cargo.toml" --release --locked \
    --jobs "${IBD_JOBS:-$(nproc)}"
mkdir -p "$(dirname "$binary")"
cp "$cache/target/release/corepc-calls" "$binary.tmp"
mv "$binary.tmp" "$binary"
echo "$binary"
