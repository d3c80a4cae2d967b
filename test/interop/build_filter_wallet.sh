#!/usr/bin/env bash
# Installs the library of the wallet that speaks BIP 157 (filter-wallet.txt) into the cache and
# prints the folder to import it from. Exit status as depends/cached_build.sh says.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../depends/cached_build.sh"
build_python "$here/filter-wallet.txt" "the wallet that speaks BIP 157"
