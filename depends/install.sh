#!/usr/bin/env bash
# Installs the Debian packages listed in depends/packages.txt (and those in any list named as an
# argument) and, where PATH has no cargo of at least 1.78, cargo-web, Debian 12's recent one. Skips
# apt altogether when nothing is missing. Needs root, or sudo.
source "$(dirname "${BASH_SOURCE[0]}")/cached_build.sh"
lists=("$(dirname "${BASH_SOURCE[0]}")/packages.txt" "$@")
missing=()
while read -r package; do
    [ -n "$package" ] || continue
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
        missing+=("$package")
done < <(cat "${lists[@]}")
[ -z "$(lack_of_cargo)" ] || missing+=(cargo-web)
[ ${#missing[@]} -gt 0 ] || exit 0
echo "depends: installing ${missing[*]}"
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
"${as_root[@]}" apt-get update -qq
if ! apt-cache show cargo-web > /dev/null 2>&1; then # a later release, whose cargo is recent itself
    missing=("${missing[@]/#cargo-web/cargo}")
fi
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" >/dev/null
