#!/usr/bin/env bash
# Builds the libsecp256k1 that Bitcoin Core itself uses, static, with the modules that a node needs,
# out of the package that the interop tests pin (test/interop/kernel-oracle/Cargo.lock), and prints
# its prefix. Configuring with CMake runs it; it takes about ten seconds the first time. Exit status
# as depends/cached_build.sh says. `origin` below the prefix says where the source came from.
source "$(dirname "${BASH_SOURCE[0]}")/cached_build.sh"
begin_build secp256k1 "$(cat "${BASH_SOURCE[0]}" "$core_lock" | hash_of)"
prefix=$cache/$build_key
already_there "$prefix"
need_cargo
need_tools cmake cc python3
lock_cache
already_there "$prefix"

work=$(mktemp -d "$cache/build.XXXXXX")
trap 'rm -rf "$work"' EXIT
source=$(core_source)/src/secp256k1
run_build "libsecp256k1, configuring" cmake -S "$source" -B "$work/build" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE=-O2 \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF \
    -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib \
    -DSECP256K1_ENABLE_MODULE_EXTRAKEYS=ON -DSECP256K1_ENABLE_MODULE_SCHNORRSIG=ON \
    -DSECP256K1_ENABLE_MODULE_ELLSWIFT=ON -DSECP256K1_ENABLE_MODULE_RECOVERY=ON \
    -DSECP256K1_ENABLE_MODULE_ECDH=OFF -DSECP256K1_ENABLE_MODULE_MUSIG=OFF \
    -DSECP256K1_BUILD_TESTS=OFF -DSECP256K1_BUILD_EXHAUSTIVE_TESTS=OFF \
    -DSECP256K1_BUILD_BENCHMARK=OFF -DSECP256K1_BUILD_CTIME_TESTS=OFF
run_build libsecp256k1 env DESTDIR="$work/stage" cmake --build "$work/build" --target install
crate=$(core_package libbitcoinkernel-sys)
commit=$(sed -n 's/.*"sha1": "\(.\{12\}\).*/\1/p' "$crate/.cargo_vcs_info.json")
echo "$(basename "$crate" | sed 's/-\([0-9.]*\)$/ \1/')${commit:+ (commit $commit)}" \
    > "$work/stage$prefix/origin"
mv "$work/stage$prefix" "$prefix"
echo "$prefix"
