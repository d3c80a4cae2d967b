#!/usr/bin/env bash
# Builds zmq-subscriber/ (a subscriber in Go, over the library zmq4) into the cache and prints the
# path of its binary. Exit status as depends/cached_build.sh says.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../depends/cached_build.sh"
module=$here/zmq-subscriber
begin_build zmq-subscriber "$(cat "$module/go.mod" "$module/go.sum" "$module/main.go" | hash_of)"
binary=$cache/bin/$build_key/zmq-subscriber
already_there "$binary"
need_tools go
export GOTOOLCHAIN=local
need_version go "$(sed -n 's/^go //p' "$module/go.mod")" \
    "$(go env GOVERSION | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1)"
lock_cache
already_there "$binary"

export GOFLAGS=-mod=readonly GOCACHE=$cache/go-build
run_build "zmq-subscriber" go build -C "$module" -buildvcs=false -p "${IBD_JOBS:-$(nproc)}" \
    -o "$binary.tmp" .
mv "$binary.tmp" "$binary"
echo "$binary"
