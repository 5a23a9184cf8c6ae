#!/usr/bin/env bash
# What scripts write is complete or not there: an archive whose packing fails leaves the one before, and a site without
# the licences of its parts is refused before the one before is touched. A site has the cards of its models, and everybody
# can read it.
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

# Of the bundled models, with their licences, and not of others. What a browser does not load is stood in for.
cd "$work/tree"
root=build/browser-root
for licence in icu/LICENSE oniguruma/COPYING zlib/LICENSE highway/LICENSE zig/LICENSE \
  zig/lib/{libcxx/LICENSE.TXT,libcxxabi/LICENSE.TXT,libc/musl/COPYRIGHT} \
  zig/lib/libc/wasi/{LICENSE,LICENSE-MIT,libc-bottom-half/cloudlibc/LICENSE,libc-top-half/musl/COPYRIGHT}; do
  mkdir -p "$(dirname "$root/$licence")"
  echo "text of $licence" >"$root/$licence"
done
for package in libfmt-dev nlohmann-json3-dev libxxhash-dev; do
  [[ -f /usr/share/doc/$package/copyright ]] || exit 0 # no Debian, or one without documentation
done
mkdir -p build/browser/bin examples/browser models/{de-en,mine,checkpoints/step-100}
cp "$source/scripts/source-date" scripts
cp -r "$source/web" .
cp "$source/examples/browser/index.html" examples/browser
touch build/browser/bin/heed.wasm
for name in de-en mine checkpoints/step-100; do echo '{}' >"models/$name/config.json"; done
for name in de-en mine checkpoints; do echo "the card of $name" >"models/$name/README.md"; done
echo log >models/de-en/training-log.jsonl
mkdir cmake
printf '# Names\ncheckpoints\nde-en\n' >cmake/bundled-models.txt
printf '#!/bin/sh\n' >"$work/bin/node"
chmod +x "$work/bin/node"
chmod -R go= .
(umask 077 && PATH="$work/bin:$PATH" scripts/make-site build/browser "$work/site" >/dev/null)
[[ $(cd "$work/site/models" && find . -type f | LC_ALL=C sort | xargs) == \
  "./de-en/README.md ./de-en/config.json ./step-100/README.md ./step-100/config.json" ]] ||
  fail "the site has the models $(find "$work/site/models")"
[[ $(cat "$work/site/models/"*/README.md) == $'the card of de-en\nthe card of checkpoints' ]] || fail "the site has other cards"
[[ -z $(find "$work/site" ! -perm -444 -o -type d ! -perm -555) ]] || fail "not everybody can read the site"
