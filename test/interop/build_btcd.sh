#!/usr/bin/env bash
# Builds btcd (another full node, in Go) at the version btcd-peer/go.mod names, into the cache, and
# prints the path of its binary. Exit status as depends/cached_build.sh says.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../depends/cached_build.sh"
module=$here/btcd-peer
build_go "$module" btcd 1.25 github.com/btcsuite/btcd "btcd (about a minute the first time)"
