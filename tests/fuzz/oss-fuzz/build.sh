#!/usr/bin/env bash
# Builds all fuzzers as OSS-Fuzz wants them: with its compilers and flags (CC, CXX, CFLAGS, CXXFLAGS, LIB_FUZZING_ENGINE), into
# OUT, with their first inputs and the libraries that they need. Run in the root of the source. FUZZERS: only these, as
# "json yaml".
set -euo pipefail
: "${OUT:?}" "${LIB_FUZZING_ENGINE:?}" "${CXX:?}"
build=${WORK:-$OUT}/heed-build

# The libraries of the system were compiled with libstdc++.
export CXXFLAGS="${CXXFLAGS//-stdlib=libc++/}"
cmake -S . -B "$build" -G Ninja -D CMAKE_BUILD_TYPE=None -D CMAKE_CXX_COMPILER="$CXX" -D CMAKE_BUILD_RPATH='$ORIGIN/lib' \
  -D HEED_BUILD_FUZZ=ON -D HEED_FUZZING_ENGINE="$LIB_FUZZING_ENGINE" -D HEED_HARDENING=OFF -D HEED_WARNINGS_AS_ERRORS=OFF \
  -D HEED_BUILD_TESTS=OFF -D HEED_BUILD_EXAMPLES=OFF -D HEED_MPI=OFF
targets=(heed_fuzzers)
if [[ -n ${FUZZERS:-} ]]; then mapfile -t targets < <(printf '%s_fuzz\n' $FUZZERS); fi
cmake --build "$build" --target "${targets[@]}" -j "${JOBS:-$(nproc)}"

mkdir -p "$OUT/lib"
scripts/fuzz --dictionaries "$OUT"
cp -r src/text/golden/tokenizers tests/fuzz/seeds/tokenizer_json "$OUT"
for program in "$build"/bin/*_fuzz; do
  name=$(basename "$program" _fuzz)
  cp "$program" "$OUT"
  rm -rf "$build/inputs" && mkdir "$build/inputs"
  if [[ -d tests/fuzz/seeds/$name ]]; then cp -r "tests/fuzz/seeds/$name/." "$build/inputs"; fi
  if [[ -e tests/fuzz/inputs/$name.tar.xz ]]; then tar -xf "tests/fuzz/inputs/$name.tar.xz" -C "$build/inputs"; fi
  (cd "$build/inputs" && find . -type f | zip -q "$OUT/${name}_fuzz_seed_corpus.zip" -@)
  # All but the C and C++ libraries, which are those of the machine that runs it.
  ldd "$program" | awk '$3 ~ /^\// { print $3 }' | grep -vE '/(libc|libm|libdl|libpthread|librt|ld-linux[^/]*)\.so' |
    xargs -I {} cp -u {} "$OUT/lib"
done
