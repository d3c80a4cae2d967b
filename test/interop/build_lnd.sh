#!/usr/bin/env bash
# Builds lnd (a Lightning node, in Go) at the version that lnd-node/go.mod names, into the cache,
# and prints the path of its binary. 370 CPU seconds the first time, besides the
# download. Exit status as depends/cached_build.sh says.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../depends/cached_build.sh"
module=$here/lnd-node
build_go "$module" lnd "$(sed -n 's/^go //p' "$module/go.mod")" \
    github.com/lightningnetwork/lnd/cmd/lnd "lnd (minutes the first time)"
