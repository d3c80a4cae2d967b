#!/usr/bin/env bash
# Builds the libsecp256k1 that Bitcoin Core itself uses, out of the crate that the interop tests
# already pin (test/interop/kernel-oracle/Cargo.lock), and prints its prefix for
#
#   cmake --preset dev -DIBD_SECP256K1_ROOT="$(depends/build_secp256k1.sh)"
#
# Optional: Debian's library, which is older, does the same a fifth more slowly. Kept in the cache
# outside the tree. Exit status 77 when there is nothing to build with.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
manifest=$here/../test/interop/kernel-oracle/Cargo.toml
cache=${IBD_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/ibd-booster}/secp256k1

key=$(cat "$0" "$(dirname "$manifest")/Cargo.lock" | sha256sum | cut -c1-16)
prefix=$cache/$key
if [ -f "$prefix/lib/libsecp256k1.a" ]; then echo "$prefix"; exit 0; fi
for tool in cargo cmake cc python3; do
    command -v "$tool" > /dev/null || { echo "SKIP secp256k1: no $tool" >&2; exit 77; }
done

mkdir -p "$cache"
exec 9> "$cache/lock"
flock 9
if [ -f "$prefix/lib/libsecp256k1.a" ]; then echo "$prefix"; exit 0; fi
log=$cache/build-$key.log
find_source='import json, pathlib, sys
for package in json.load(sys.stdin)["packages"]:
    if package["name"] == "libbitcoinkernel-sys":
        print(pathlib.Path(package["manifest_path"]).parent / "bitcoin" / "src" / "secp256k1")'
source=$(cargo metadata --format-version 1 --locked --manifest-path "$manifest" 2> "$log" |
         python3 -c "$find_source")
build=$(mktemp -d "$cache/build.XXXXXX")
trap 'rm -rf "$build"' EXIT
# Flags meant for our own build (sanitizers, another compiler) must not reach this one.
if ! (unset CC CFLAGS CPPFLAGS LDFLAGS
      cmake -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE=-O2 \
          -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF \
          -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib \
          -DSECP256K1_BUILD_TESTS=OFF -DSECP256K1_BUILD_EXHAUSTIVE_TESTS=OFF \
          -DSECP256K1_BUILD_BENCHMARK=OFF -DSECP256K1_BUILD_CTIME_TESTS=OFF
      cmake --build "$build" --target install) >> "$log" 2>&1; then
    echo "secp256k1: build failed, log in $log" >&2
    exit 1
fi
echo "$prefix"
