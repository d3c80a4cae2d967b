#!/usr/bin/env bash
# Compiles bloom-wallet/ (a wallet that speaks BIP 37, over the library bitcoinj) into the cache and
# prints the folder with its class and, in lib/, its libraries. Exit status as
# depends/cached_build.sh says.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../depends/cached_build.sh"
sources=$here/bloom-wallet
begin_build bloom-wallet "$(cat "$sources"/pom.xml "$sources"/*.sha256 "$sources"/*.java | hash_of)"
folder=$cache/bin/$build_key
already_there "$folder"
need_tools java javac mvn
lock_cache
already_there "$folder"

rm -rf "$folder.tmp"
mkdir -p "$folder.tmp"
run_build "the libraries of bloom-wallet" mvn -q -B -f "$sources/pom.xml" \
    dependency:copy-dependencies -DoutputDirectory="$folder.tmp/lib"
(cd "$folder.tmp/lib" && run_build "hashes of the libraries" sha256sum -c "$sources/lib.sha256")
run_build "bloom-wallet" javac -cp "$folder.tmp/lib/*" -d "$folder.tmp" "$sources/BloomWallet.java"
mv "$folder.tmp" "$folder"
echo "$folder"
