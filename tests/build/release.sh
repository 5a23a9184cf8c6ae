#!/usr/bin/env bash
# scripts/release in a repository of its own: what it changes, and what it refuses.
#
#   release.sh SOURCE
set -euo pipefail
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HEED_RELEASE_ROOT=$work GIT_CONFIG_GLOBAL=/dev/null
release() { "$source/scripts/release" "$@" 2>&1; }
mkdir -p "$work/include/heed"
printf '#define HEED_VERSION "0.1.0"\n' >"$work/include/heed/version.h"
printf '# Changes\n\n## Unreleased\n\n### Added\n- One thing.\n\n## 0.0.9 - 2020-01-01\n- An old thing.\n' >"$work/CHANGELOG.md"
git -C "$work" init -q
git -C "$work" config user.email test@example.org
git -C "$work" config user.name Test
git -C "$work" add .
git -C "$work" commit -q -m Start

refuses() { # WORDS VERSION
  if release "$2" >"$work.out" || ! grep -q "$1" "$work.out"; then
    echo "release $2 is not refused with '$1':"
    cat "$work.out"
    exit 1
  fi
}
refuses "not a version" 1.0
refuses "not later" 0.1.0
refuses "not later" 0.0.99
touch "$work/more"
refuses "uncommitted" 1.0.0
rm "$work/more"

release 1.0.0 2026-01-02 >/dev/null
grep -qx '#define HEED_VERSION "1.0.0"' "$work/include/heed/version.h"
[[ $(grep '^## ' "$work/CHANGELOG.md") == $'## Unreleased\n## 1.0.0 - 2026-01-02\n## 0.0.9 - 2020-01-01' ]]
[[ $(git -C "$work" describe --exact-match) == v1.0.0 ]]
[[ $(release --notes 1.0.0) == *"One thing."* && $(release --notes 1.0.0) != *old* ]]
[[ $(release --notes 0.0.9) == *"An old thing."* ]]
refuses "empty" 1.0.1
if release --notes 3.0.0 >/dev/null; then echo "there is no version 3.0.0"; exit 1; fi

# What is collected is of this version only, and its checksums are right.
cat >"$work/Makefile" <<'MAKEFILE'
site:
	@mkdir -p build/site
	@echo page >build/site/index.html
test:
	@test -e build/site/index.html
	@mkdir -p build/packages build/manylinux-wheels
	@echo bill >build/heed.spdx.json
packages:
	@echo tar >build/packages/heed-1.0.0-linux-x86_64.tar.xz
	@echo deb >build/packages/heed_1.0.0_amd64.deb
	@echo old >build/packages/heed_0.1.0_amd64.deb
manylinux:
	@echo wheel >build/manylinux-wheels/heed-1.0.0-cp311-cp311-manylinux_2_28_x86_64.whl
	@echo wheel >build/manylinux-wheels/heed-$(STABLE)-cp312-abi3-manylinux_2_28_x86_64.whl
MAKEFILE
if STABLE=0.1.0 release --build "$work/collected" >"$work.out" || [[ -e $work/collected ]] || ! grep -q cp312-abi3 "$work.out"; then
  echo "a missing wheel is not noticed"
  exit 1
fi
export STABLE=1.0.0
release --build "$work/collected" >/dev/null
(cd "$work/collected" && sha256sum --quiet --strict -c SHA256SUMS)
[[ $(find "$work/collected" -type f | wc -l) == 7 && ! -e $work/collected/heed_0.1.0_amd64.deb ]]
[[ $(tar -xJOf "$work/collected/heed-site-1.0.0.tar.xz" heed-site-1.0.0/index.html) == page ]]
if release --build "$work/collected" >/dev/null; then echo "an existing folder is taken"; exit 1; fi
sed -i 's/^manylinux:/wheels:/' "$work/Makefile"
if release --build "$work/more" >/dev/null || [[ -e $work/more ]]; then echo "a failed step is not noticed"; exit 1; fi
rm -f "$work.out"
