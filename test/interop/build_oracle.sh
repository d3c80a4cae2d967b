#!/usr/bin/env bash
# Builds the kernel oracle (Bitcoin Core's engine as a program) into the cache and prints the path
# of its binary. Exit status as depends/cached_build.sh says.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../depends/cached_build.sh"
crate=$here/kernel-oracle
begin_build kernel-oracle "$(cd "$crate" &&
    find Cargo.toml Cargo.lock build.rs toolchain.cmake src shim -type f -print0 |
    LC_ALL=C sort -z | xargs -0 sha256sum | hash_of)"
binary=$cache/bin/$build_key/kernel-oracle
already_there "$binary"
need_cargo
need_tools cmake g++
lock_cache
already_there "$binary"

cp "$crate/toolchain.cmake" "$cache/toolchain.cmake"
export CMAKE_TOOLCHAIN_FILE=$cache/toolchain.cmake CARGO_TARGET_DIR=$cache/target
run_build "the kernel oracle (three to five minutes the first time)" \
    cargo build --manifest-path "$crate/Cargo.toml" --release --locked \
    --jobs "${IBD_JOBS:-$(nproc)}"
mkdir -p "$(dirname "$binary")"
cp "$cache/target/release/kernel-oracle" "$binary.tmp"
mv "$binary.tmp" "$binary"
echo "$binary"
