#!/usr/bin/env bash
# Builds the hints oracle (the published crate for BIP 456's hints as a program) into the cache and
# prints the path of its binary. Exit status as depends/cached_build.sh says.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../depends/cached_build.sh"
crate=$here/hints-oracle
begin_build hints-oracle "$(cd "$crate" && find Cargo.toml Cargo.lock src -type f -print0 |
    LC_ALL=C sort -z | xargs -0 sha256sum | hash_of)"
binary=$cache/bin/$build_key/hints-oracle
already_there "$binary"
need_cargo
lock_cache
already_there "$binary"

export CARGO_TARGET_DIR=$cache/target
run_build "the hints oracle" \
    cargo build --manifest-path "$crate/Cargo.toml" --release --locked \
    --jobs "${IBD_JOBS:-$(nproc)}"
mkdir -p "$(dirname "$binary")"
cp "$cache/target/release/hints-oracle" "$binary.tmp"
mv "$binary.tmp" "$binary"
echo "$binary"
