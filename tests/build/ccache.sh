#!/usr/bin/env bash
# What ccache has from build/ is not compiled again in another build folder of the clone (`pip install .`), nor in
# another clone: groups of sources are the same text, and a library compiles without a miss.
#
#   ccache.sh SOURCE COMPILER
set -euo pipefail
source=$1
compiler=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Settings of the environment would replace those of CMakeLists.txt, which are tested.
unset "${!CCACHE_@}" CMAKE_CXX_COMPILER_LAUNCHER
export CCACHE_DIR=$work/cache

# build CLONE FOLDER: configures a copy of the source and compiles its smallest library, with precompiled headers.
build() {
  local clone=$work/$1 file
  mkdir -p "$clone"
  for file in CMakeLists.txt cmake include python src web; do
    if [[ ! -e $clone/$file ]]; then cp -r "$source/$file" "$clone"; fi
  done
  cmake -S "$clone" -B "$clone/$2" -G Ninja -D CMAKE_CXX_COMPILER="$compiler" -D CMAKE_BUILD_TYPE=Release \
    -D HEED_BUILD_TESTS=OFF -D HEED_BUILD_EXAMPLES=OFF >/dev/null
  ccache --zero-stats >/dev/null
  ninja -C "$clone/$2" heed_autograd >/dev/null
}
count() { ccache --print-stats | awk -v name="$1" '$1 == name { print $2 }'; }

build first build
compiled=$(count cache_miss)
((compiled > 1)) || { echo "the first build compiled $compiled files by way of ccache"; exit 1; }
for other in "first build-python" "second build"; do
  build $other
  if (($(count cache_miss) > 0)); then
    echo "$other: $(count cache_miss) of $compiled files were compiled again"
    exit 1
  fi
  diff -r "$work/first/build/groups" "$work/${other/ //}/groups"
done
