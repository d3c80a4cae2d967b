# Sourced by the scripts that build other people's programs, or unpack what they carry. Each prints
# the path of what it made, keeps it in the cache outside any build tree under a key of what it was
# made from, and only prints the path when it is there already. Exit status: 0 made, 77 nothing to
# make it with (a failure if CI=true), 1 failed.
#
#   begin_build NAME KEY      sets $cache (the folder of NAME) and $log
#   already_there PATH        prints PATH and ends the script if PATH exists
#   need_tools TOOL..., need_version TOOL WANTED HAVE, need_cargo, cannot_build REASON
#   lock_cache                one build of NAME at a time: ask already_there again after it
#   run_build TITLE COMMAND...   at low priority, into $log, without our own build's flags
#   build_crate FOLDER TITLE [PREPARE]   all of this for a crate of ours with a program of the same
#                             name; SOURCES: what it is made of; the command PREPARE comes first
#   build_go MODULE NAME GO PACKAGE TITLE   all of this for a program in Go: MODULE is a folder with
#                             go.mod, go.sum and perhaps sources, GO the least version
#   build_python LIST TITLE   all of this for the Python packages in a file of versions and hashes;
#                             prints the folder to import them from
#   core_package NAME         prints where the pinned package of that name lies
#   core_source               prints where Bitcoin Core's tree lies in it
set -euo pipefail
cached_build_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# The package that carries Core's tree is pinned by the oracle's Cargo.lock.
core_manifest=$cached_build_here/../test/interop/kernel-oracle/Cargo.toml
core_lock=$cached_build_here/../test/interop/kernel-oracle/Cargo.lock
# Where the usual installers of these put them.
for folder in "${HOME:-}/.cargo/bin" /usr/local/go/bin; do
    [ ! -d "$folder" ] || PATH=$PATH:$folder
done
export PATH

hash_of() { sha256sum | cut -c1-16; }

begin_build() {
    build_name=$1 build_key=$2
    cache=${IBD_CACHE_DIR:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/ibd-booster}/$build_name
    log=$cache/build-$build_key.log
}

already_there() {
    [ ! -e "$1" ] || { echo "$1"; exit 0; }
}

cannot_build() {
    echo "SKIP $build_name: $1" >&2
    [ "${CI:-}" = true ] && exit 1
    exit 77
}

need_tools() {
    local tool
    for tool in "$@"; do
        command -v "$tool" > /dev/null || cannot_build "$tool is not installed"
    done
}

too_old() { # WANTED HAVE
    ! printf '%s\n%s\n' "$1" "$2" | sort -CV
}

need_version() {
    ! too_old "$2" "$3" || cannot_build "$1 $3 is too old, $2 is needed"
}

# What is wrong with cargo, nothing if it will do. The lock files of this project need 1.78.
lack_of_cargo() {
    command -v cargo > /dev/null || { echo "cargo is not installed"; return; }
    local version
    version=$(cargo --version | grep -oE '[0-9]+\.[0-9]+' | head -n 1)
    ! too_old 1.78 "$version" || echo "cargo $version is too old, 1.78 is needed"
}

need_cargo() {
    local lack
    lack=$(lack_of_cargo)
    [ -z "$lack" ] || cannot_build "$lack"
}

lock_cache() {
    mkdir -p "$cache"
    exec 9> "$cache/lock"
    flock 9
    : > "$log"
}

run_build() {
    local title=$1 start=$SECONDS
    shift
    echo "building $title, log in $log" >&2
    if ! env -u CC -u CXX -u CFLAGS -u CXXFLAGS -u CPPFLAGS -u LDFLAGS -u RUSTFLAGS \
            nice -n 10 "$@" >> "$log" 2>&1; then
        tail -n 40 "$log" >&2
        echo "$build_name: build failed, full log in $log" >&2
        exit 1
    fi
    echo "$title: $((SECONDS - start)) s" >&2
}

build_crate() {
    local crate=$1 title=$2 prepare=${3:-true} name binary
    name=$(basename "$crate")
    # shellcheck disable=SC2086 # a list of names
    begin_build "$name" "$(cd "$crate" &&
        find ${SOURCES:-Cargo.toml Cargo.lock src} -type f -print0 |
        LC_ALL=C sort -z | xargs -0 sha256sum | hash_of)"
    binary=$cache/bin/$build_key/$name
    already_there "$binary"
    need_cargo
    lock_cache
    already_there "$binary"
    "$prepare"
    export CARGO_TARGET_DIR=$cache/target
    run_build "$title" cargo build --manifest-path "$crate/Cargo.toml" --release --locked \
        --jobs "${IBD_JOBS:-$(nproc)}"
    mkdir -p "$(dirname "$binary")"
    cp "$cache/target/release/$name" "$binary.tmp"
    mv "$binary.tmp" "$binary"
    echo "$binary"
}

build_go() {
    local module=$1 name=$2 least=$3 package=$4 title=$5 binary
    begin_build "$name" \
        "$(find "$module" -maxdepth 1 -type f -print0 | LC_ALL=C sort -z | xargs -0 cat | hash_of)"
    binary=$cache/bin/$build_key/$name
    already_there "$binary"
    need_tools go
    export GOTOOLCHAIN=local
    need_version go "$least" "$(go env GOVERSION | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1)"
    lock_cache
    already_there "$binary"
    export GOFLAGS=-mod=readonly GOCACHE=$cache/go-build
    run_build "$title" go build -C "$module" -buildvcs=false -p "${IBD_JOBS:-$(nproc)}" \
        -o "$binary.tmp" "$package"
    mv "$binary.tmp" "$binary"
    echo "$binary"
}

build_python() {
    local list=$1 title=$2 folder
    begin_build "$(basename "$list" .txt)" "$(hash_of < "$list")"
    folder=$cache/lib/$build_key
    already_there "$folder"
    need_tools python3
    python3 -m pip --version > /dev/null 2>&1 || cannot_build "pip is not installed"
    lock_cache
    already_there "$folder"
    rm -rf "$folder.tmp"
    run_build "$title" python3 -m pip install --no-deps --require-hashes --no-compile \
        --disable-pip-version-check --root-user-action=ignore --target "$folder.tmp" -r "$list"
    mv "$folder.tmp" "$folder"
    echo "$folder"
}

core_package() {
    cargo metadata --format-version 1 --locked --manifest-path "$core_manifest" 2>> "$log" |
        python3 -c 'import json, pathlib, sys
for package in json.load(sys.stdin)["packages"]:
    if package["name"] == sys.argv[1]:
        print(pathlib.Path(package["manifest_path"]).parent)' "$1"
}

core_source() {
    local package
    package=$(core_package libbitcoinkernel-sys) || return
    [ -n "$package" ] || return
    echo "$package/bitcoin"
}
