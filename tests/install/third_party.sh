#!/usr/bin/env bash
# The bill of materials names every library that the built programs and libraries name, and every package of
# docs/dependencies.md; it is JSON of the form that SPDX 2.3 asks for; the licences have a text each. With a table that
# lacks a library the check fails. README.md links the licence of each model, as its card names it. Models of the user's
# own in models/ are neither in the bill nor installed.
#
#   third_party.sh SOURCE BUILD VERSION
set -euo pipefail
source=$1
build=$2
version=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
files=("$build/bin/heed")
for file in "$build"/lib/libheed.so "$build"/lib/libheed_pictures.so "$build"/lib/libheed_openmpi.so "$build"/lib/libheed_mpich.so; do
  if [[ -e $file ]]; then files+=("$file"); fi
done
"$source/scripts/bill-of-materials" --check "${files[@]}"

for removed in libgumbo.so libfmt-dev; do
  grep -v "$removed" "$source/cmake/third-party.txt" >"$work/table"
  if HEED_THIRD_PARTY=$work/table "$source/scripts/bill-of-materials" --check "${files[@]}" >"$work/found"; then
    echo "the check does not notice that $removed is missing"
    exit 1
  fi
done

SOURCE_DATE_EPOCH=$(date -d "$(sed -n 's/.*"created": "\([^"]*\)".*/\1/p' "$build/heed.spdx.json")" +%s)
export SOURCE_DATE_EPOCH
"$source/scripts/bill-of-materials" "$work" "$version"
cmp "$work/heed.spdx.json" "$build/heed.spdx.json"
python3 - "$work/heed.spdx.json" "$version" <<'PYTHON'
import json, re, sys
bill = json.load(open(sys.argv[1]))
assert bill["spdxVersion"] == "SPDX-2.3" and bill["dataLicense"] == "CC0-1.0"
assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", bill["creationInfo"]["created"])
ids = [package["SPDXID"] for package in bill["packages"]]
assert len(ids) == len(set(ids)) and all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", each) for each in ids), ids
assert bill["packages"][0]["versionInfo"] == sys.argv[2]
for package in bill["packages"]:
    assert {"name", "downloadLocation", "licenseConcluded", "licenseDeclared", "copyrightText"} <= package.keys(), package
for relation in bill["relationships"]:
    assert relation["relatedSpdxElement"] in ids, relation
assert {relation["relatedSpdxElement"] for relation in bill["relationships"]} == set(ids)
PYTHON
for name in Apache MIT "Boost Software License" "GNU LESSER GENERAL PUBLIC LICENSE"; do
  grep -q "$name" "$work/THIRD-PARTY-LICENSES" || { echo "THIRD-PARTY-LICENSES has no text of $name"; exit 1; }
done

# Packages that are installed later are other versions.
if [[ -e /var/lib/dpkg/status && -e $build/build.ninja ]]; then
  grep '^build .*heed\.spdx\.json' "$build/build.ninja" | grep -qF /var/lib/dpkg/status ||
    { echo "heed.spdx.json is not written again when packages were installed"; exit 1; }
fi
# Of some kinds only, as for wheels that are linked with libraries of their own.
mkdir "$work/some"
"$source/scripts/bill-of-materials" "$work/some" "$version" headers wheel
grep -q nanobind "$work/some/THIRD-PARTY-LICENSES"
if grep -q 'oneDNN\|libgomp\|Cairo' "$work/some/THIRD-PARTY-LICENSES" "$work/some/heed.spdx.json"; then
  echo "the bill of some kinds has others"
  exit 1
fi
# The Python package has the texts of what is compiled into its module.
if grep -q '^HEED_BUILD_PYTHON:BOOL=ON' "$build/CMakeCache.txt"; then
  grep -q "Wenzel Jakob" "$build/python-licences/nanobind.txt"
  grep -q "^Copyright (c) .*Goetghebuer" "$build/python-licences/robin-map.txt"
  grep -q "^AUTHORS OR COPYRIGHT HOLDERS BE LIABLE" "$build/python-licences/robin-map.txt"
  grep -q 'robin-map' "$work/some/THIRD-PARTY-LICENSES"
fi
# Of the sources of a library, also those of what it contains.
mkdir -p "$work/sources/"{third_party/{absl,googletest},src/deep/deeper,LICENSES,tests}
for file in LICENSE THIRD-PARTY-PROGRAMS LICENSES/MIT.txt third_party/absl/LICENSE third_party/googletest/LICENSE tests/COPYING src/deep/deeper/LICENSE README; do
  echo "$file" >"$work/sources/$file"
done
[[ $("$source/scripts/source-licences" "$work/sources" | LC_ALL=C sort | xargs) == "LICENSE LICENSES/MIT.txt THIRD-PARTY-PROGRAMS third_party/absl/LICENSE" ]] ||
  { echo "of the sources: $("$source/scripts/source-licences" "$work/sources")"; exit 1; }
# Each library of the system that the command loads is one of a package, as far as Debian's packages brought it.
"$source/scripts/system-libraries" "$build/bin/heed" >"$work/libraries"
if [[ -e /var/lib/dpkg/info/libc6:$(dpkg --print-architecture).list ]]; then
  grep -qP '^libc\.so\.6\t/.*\tlibc6$' "$work/libraries" || { cat "$work/libraries"; exit 1; }
fi

# The models that come with Heed are those of the list, and no others.
grep -v '^#' "$source/cmake/bundled-models.txt" >"$work/bundled"
sed -n 's|.*/models/\([^/"]*\)".*|\1|p' "$build/cmake_install.cmake" | sort -u | diff "$work/bundled" -
sed -n 's/.*"name": "model \([^"]*\)".*/\1/p' "$work/heed.spdx.json" | diff "$work/bundled" -
if git -C "$source" rev-parse --git-dir >/dev/null 2>&1; then
  git -C "$source" ls-files models | cut -d/ -f2 | sort -u | diff "$work/bundled" -
fi
tree=$work/tree
mkdir -p "$tree/models/"{mine,my_model} "$tree/scripts" "$tree/cmake"
cp "$source"/scripts/{bill-of-materials,source-date} "$tree/scripts"
cp "$source"/cmake/third-party.txt "$tree/cmake"
echo my_model >"$tree/cmake/bundled-models.txt"
echo "A card without a licence." | tee "$tree/models/mine/README.md" >"$tree/models/my_model/README.md"
mkdir "$tree/out"
"$tree/scripts/bill-of-materials" "$tree/out" "$version"
grep -q '"SPDXRef-model-my-model", "name": "model my_model".*"licenseDeclared": "NOASSERTION"' "$tree/out/heed.spdx.json"
if grep -q mine "$tree/out/heed.spdx.json"; then echo "the bill has a model that is not in the list"; exit 1; fi

while read -r model; do
  card=$source/models/$model/README.md
  licence=$(sed -n 's/^license: cc-\(.*\)-\([0-9.]*\)$/\1\/\2/p' "$card")
  sed -n '/^## Licence/,$p' "$source/README.md" | grep -q "creativecommons.org/licenses/$licence/" ||
    { echo "README.md does not link $licence, the licence of $card"; exit 1; }
done <"$work/bundled"
