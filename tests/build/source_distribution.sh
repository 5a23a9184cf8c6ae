#!/usr/bin/env bash
# The source distribution of the Python package has all sources: of the patterns in pyproject.toml, none excludes a
# folder further down that is called like one at the top.
#
#   source_distribution.sh SOURCE
set -euo pipefail
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GIT_CONFIG_GLOBAL=/dev/null
git -C "$work" init -q
# They are patterns as those of Git, which therefore says what they match. Scikit-build-core adds build-dir.
python3 - "$source/pyproject.toml" >"$work/.gitignore" <<'PYTHON'
import re, sys, tomllib
with open(sys.argv[1], "rb") as file:
    settings = tomllib.load(file)["tool"]["scikit-build"]
build = re.sub(r"\{\w+\}", "*", settings["build-dir"])
print(build, *settings["sdist"]["exclude"], *("!" + each for each in settings["sdist"]["include"]), sep="\n")
PYTHON

cd "$source"
find CMakeLists.txt LICENSE README.md pyproject.toml cmake include python scripts src web tests recipes docs ! -type d |
  git -C "$work" check-ignore --no-index --stdin >"$work/excluded" || (($? == 1)) # 1: none
if grep -vE '^docs/(images|gallery)/' "$work/excluded"; then
  echo "are not in the source distribution: see sdist.include and sdist.exclude in pyproject.toml"
  exit 1
fi
for left_out in models/de-en/model.safetensors build/bin/heed build-cp311/CMakeCache.txt docs/images/x.svg; do
  git -C "$work" check-ignore --no-index -q "$left_out" || { echo "$left_out is in the source distribution"; exit 1; }
done
