#!/usr/bin/env bash
# Builds btcd (another full node, in Go) at the version btcd-peer/go.mod names, into the cache
# directory, and prints the path of its binary. Fast when it is there already.
# Exit status: 0 built, 77 nothing to build with (a failure if CI=true), 1 build failed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
module=$here/btcd-peer
cache=${IBD_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/ibd-booster}/btcd

missing() {
    echo "SKIP btcd: $1" >&2
    [ "${CI:-}" = true ] && exit 1
    exit 77
}

key=$(cat "$module/go.mod" "$module/go.sum" | sha256sum | cut -c1-16)
binary=$cache/bin/$key/btcd
if [ -x "$binary" ]; then echo "$binary"; exit 0; fi

command -v go > /dev/null || missing "go is not installed"
version=$(GOTOOLCHAIN=local go env GOVERSION | grep -oE '[0-9]+\.[0-9]+' | head -n 1)
printf '1.25\n%s\n' "$version" | sort -CV || missing "go $version is too old, 1.25 is needed"

mkdir -p "$cache/bin/$key"
exec 9> "$cache/lock"
flock 9
if [ -x "$binary" ]; then echo "$binary"; exit 0; fi

log=$cache/build-$key.log
start=$SECONDS
echo "building btcd (about a minute the first time), log in $log" >&2
if ! (cd "$module" && GOTOOLCHAIN=local GOFLAGS=-mod=readonly GOCACHE="$cache/go-build" \
        nice -n 10 go build -buildvcs=false -p "${IBD_JOBS:-$(nproc)}" \
        -o "$binary.tmp" github.com/btcsuite/btcd) > "$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "btcd: build failed, full log in $log" >&2
    exit 1
fi
mv "$binary.tmp" "$binary"
echo "btcd built in $((SECONDS - start)) s" >&2
echo "$binary"
