#!/usr/bin/env bash
# Builds lnd (a Lightning node, in Go) at the version that lnd-node/go.mod names, into the cache,
# and prints the path of its binary. 370 CPU seconds the first time, besides the
# download. Exit status as depends/cached_build.sh says.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../depends/cached_build.sh"
module=$here/lnd-node
begin_build lnd "$(cat "$module/go.mod" "$module/go.sum" | hash_of)"
binary=$cache/bin/$build_key/lnd
already_there "$binary"
need_tools go
export GOTOOLCHAIN=local
need_version go "$(sed -n 's/^go //p' "$module/go.mod")" \
    "$(go env GOVERSION | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1)"
lock_cache
already_there "$binary"

export GOFLAGS=-mod=readonly GOCACHE=$cache/go-build
run_build "lnd (minutes the first time)" go build -C "$module" -buildvcs=false \
    -p "${IBD_JOBS:-$(nproc)}" -o "$binary.tmp" github.com/lightningnetwork/lnd/cmd/lnd
mv "$binary.tmp" "$binary"
echo "$binary"
