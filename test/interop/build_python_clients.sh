#!/usr/bin/env bash
# Installs the Python packages of python-clients.txt into the cache and prints the folder to import
# them from. Exit status as depends/cached_build.sh says.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../depends/cached_build.sh"
list=$here/python-clients.txt
begin_build python-clients "$(hash_of < "$list")"
folder=$cache/lib/$build_key
already_there "$folder"
need_tools python3
python3 -m pip --version > /dev/null 2>&1 || cannot_build "pip is not installed"
lock_cache
already_there "$folder"

rm -rf "$folder.tmp"
run_build "Python clients" python3 -m pip install --no-deps --require-hashes --no-compile \
    --disable-pip-version-check --root-user-action=ignore --target "$folder.tmp" -r "$list"
mv "$folder.tmp" "$folder"
echo "$folder"
