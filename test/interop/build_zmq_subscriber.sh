#!/usr/bin/env bash
# Builds zmq-subscriber/ (a subscriber in Go, over the library zmq4) into the cache and prints the
# path of its binary. Exit status as depends/cached_build.sh says.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../depends/cached_build.sh"
module=$here/zmq-subscriber
build_go "$module" zmq-subscriber "$(sed -n 's/^go //p' "$module/go.mod")" . zmq-subscriber
