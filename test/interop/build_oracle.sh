#!/usr/bin/env bash
# Builds the kernel oracle (Bitcoin Core's engine as a program) and prints the path of its binary.
# The build lives in the cache directory, outside any build tree, and the binary is stored under a
# hash of its sources: the second run of the same sources only prints the path.
# Exit status: 0 built, 77 nothing to build with (a failure if CI=true), 1 build failed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
crate=$here/kernel-oracle
cache=${IBD_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/ibd-booster}/kernel-oracle

missing() {
    echo "SKIP kernel oracle: $1" >&2
    [ "${CI:-}" = true ] && exit 1
    exit 77
}

key=$(cd "$crate" && find Cargo.toml Cargo.lock build.rs toolchain.cmake src shim -type f -print0 |
      LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c1-16)
binary=$cache/bin/$key/kernel-oracle
if [ -x "$binary" ]; then echo "$binary"; exit 0; fi

for tool in cargo cmake g++; do
    command -v "$tool" > /dev/null || missing "$tool is not installed"
done
version=$(cargo --version | grep -oE '[0-9]+\.[0-9]+' | head -n 1)
printf '1.78\n%s\n' "$version" | sort -CV || missing "cargo $version is too old, 1.78 is needed"

mkdir -p "$cache/bin/$key"
exec 9> "$cache/lock"
flock 9
if [ -x "$binary" ]; then echo "$binary"; exit 0; fi

cp "$crate/toolchain.cmake" "$cache/toolchain.cmake"
log=$cache/build-$key.log
start=$SECONDS
echo "building the kernel oracle (three to five minutes the first time), log in $log" >&2
# Flags meant for our own build (sanitizers, another compiler) must not reach the engine's.
if ! env -u CC -u CXX -u CFLAGS -u CXXFLAGS -u CPPFLAGS -u LDFLAGS -u RUSTFLAGS \
        CMAKE_TOOLCHAIN_FILE="$cache/toolchain.cmake" CARGO_TARGET_DIR="$cache/target" \
        nice -n 10 cargo build --manifest-path "$crate/Cargo.toml" --release --locked \
        --jobs "${IBD_JOBS:-$(nproc)}" > "$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "kernel oracle: build failed, full log in $log" >&2
    exit 1
fi
cp "$cache/target/release/kernel-oracle" "$binary.tmp"
mv "$binary.tmp" "$binary"
echo "kernel oracle built in $((SECONDS - start)) s" >&2
echo "$binary"
