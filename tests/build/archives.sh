#!/usr/bin/env bash
# What scripts write is complete or not there: an archive whose packing fails leaves the one before, and a site without
# the licences of its parts is refused before the one before is touched.
#
#   archives.sh SOURCE
set -euo pipefail
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SOURCE_DATE_EPOCH=1700000000

fail() {
  echo "$@"
  exit 1
}
# refuses WORDS COMMAND...
refuses() {
  local words=$1
  shift
  if "$@" >"$work/said" 2>&1; then fail "$* succeeds"; fi
  grep -qF "$words" "$work/said" || fail "$* says: $(cat "$work/said")"
}

mkdir -p "$work"/{packed,bin,out}
echo "a text" >"$work/packed/text"
"$source/scripts/make-tarball" "$work/packed" "$work/out/name.tar.xz"
[[ $(tar -xOf "$work/out/name.tar.xz" name/text) == "a text" ]] || fail "the archive lacks its file"
before=$(sha256sum "$work/out/name.tar.xz")
printf '#!/bin/sh\nhead -c 20\necho full >&2\nexit 1\n' >"$work/bin/xz"
chmod +x "$work/bin/xz"
for name in name other; do
  refuses full env PATH="$work/bin:$PATH" "$source/scripts/make-tarball" "$work/packed" "$work/out/$name.tar.xz"
done
[[ $(sha256sum "$work/out/name.tar.xz") == "$before" ]] || fail "a failure destroys the archive before"
[[ $(ls "$work/out") == name.tar.xz ]] || fail "a failure leaves $(ls "$work/out")"

mkdir -p "$work/tree/scripts" "$work/site"
cp "$source/LICENSE" "$work/tree"
cp "$source/scripts/make-site" "$work/tree/scripts"
echo before >"$work/site/index.html"
refuses "build/browser-root/icu/LICENSE" "$work/tree/scripts/make-site" build/browser "$work/site"
[[ $(cat "$work/site/index.html") == before ]] || fail "a failure destroys the site before"
