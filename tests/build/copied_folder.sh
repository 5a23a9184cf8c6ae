#!/usr/bin/env bash
# `make` in a copy of a clone refuses build/ of the original, which it would write to.
#
#   copied_folder.sh SOURCE
set -euo pipefail
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/a copy/build" "$work/original"
cd "$work/a copy"
cp "$source/Makefile" .
touch build/build.ninja

for owner in "$work/original" "$work/removed"; do
  echo "CMAKE_HOME_DIRECTORY:INTERNAL=$owner" >build/CMakeCache.txt
  for target in build demo install test; do
    if make -n "$target" >output 2>&1; then
      echo "make $target accepts build/ of $owner"
      exit 1
    fi
    grep -qF "build/ belongs to $owner; 'make clean' removes it here" output || { cat output; exit 1; }
  done
  make -n clean >/dev/null
  make -n help >/dev/null
done

# Its own build/, also by another path, and none.
ln -s "$work/a copy" "$work/link"
for owner in "$work/a copy" "$work/link"; do
  echo "CMAKE_HOME_DIRECTORY:INTERNAL=$owner" >build/CMakeCache.txt
  make -n build >/dev/null
done
rm -r build
make -n build >/dev/null
